"""exec-async: executions that are waited for, looked at, and cancelled."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def waits() -> None:
    activity = this_actor.exec_async(this_actor.get_host().speed)
    activity.wait()
    say("waited")


def looks() -> None:
    activity = this_actor.exec_async(this_actor.get_host().speed)
    while not activity.test():
        say(f"{activity.remaining:g} left, {activity.remaining_ratio:g} of all")
        this_actor.sleep_for(0.3)
    say("seen")


def cancels() -> None:
    activity = this_actor.exec_async(this_actor.get_host().speed)
    this_actor.sleep_for(0.5)
    activity.cancel()
    say("cancelled")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("waits", Host.by_name("Fafard"), waits)
Actor.create("looks", Host.by_name("Ginette"), looks)
Actor.create("cancels", Host.by_name("Boivin"), cancels)
engine.run()
print(f"end {Engine.clock:.12f}")

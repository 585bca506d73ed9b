"""exec-suspend: an execution that is held for a second."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker() -> None:
    activity = this_actor.exec_async(2 * this_actor.get_host().speed)
    this_actor.sleep_for(0.5)
    activity.suspend()
    say(f"{activity.remaining_ratio:g} left")
    this_actor.sleep_for(1)
    say(f"{activity.remaining_ratio:g} left")
    Actor.self()
    this_actor.sleep_for(0.25)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("worker", Host.by_name("Fafard"), worker)
engine.run()
print(f"end {Engine.clock:.12f}")

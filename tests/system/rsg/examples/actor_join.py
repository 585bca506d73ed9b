"""actor-join: the end of others, or as long as one would wait."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sleeper(duration: float) -> None:
    this_actor.sleep_for(duration)
    say(f"slept {duration:g}")


def master() -> None:
    ginette = Host.by_name("Ginette")
    for timeout in (4, 2, 7):
        actor = Actor.create("sleeper", ginette, sleeper, 3)
        actor.join(timeout)
        say(f"joined, at most {timeout}")
    actor = Actor.create("sleeper", ginette, sleeper, 3)
    this_actor.sleep_for(4)
    actor.join(4)
    say("joined one that had ended")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("master", Host.by_name("Tremblay"), master)
engine.run()
print(f"end {Engine.clock:.12f}")

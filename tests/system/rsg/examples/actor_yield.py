"""actor-yield: actors of one date take turns."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def yielder(name: str, count: int) -> None:
    for number in range(count):
        say(f"{name} {number}")
        this_actor.yield_()
    say(f"{name} ends")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("yielder", Host.by_name("Tremblay"), yielder, "a", 5)
Actor.create("yielder", Host.by_name("Jupiter"), yielder, "b", 8)
engine.run()
print(f"end {Engine.clock:.12f}")

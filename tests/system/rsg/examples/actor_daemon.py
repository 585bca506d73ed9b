"""actor-daemon: a daemon ends with the last actor that is none."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker() -> None:
    for _ in range(3):
        this_actor.sleep_for(1.5)
        say("works")


def daemon() -> None:
    Actor.self().daemonize()
    while True:
        say("still there")
        this_actor.sleep_for(1)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("worker", Host.by_name("Boivin"), worker)
Actor.create("daemon", Host.by_name("Tremblay"), daemon)
engine.run()
print(f"end {Engine.clock:.12f}")

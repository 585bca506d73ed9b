"""actor-migrate: an actor that computes here and there."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(first: Host, second: Host) -> None:
    this_actor.execute(5e7)
    say("computed")
    this_actor.set_host(first)
    this_actor.execute(5e7)
    say("computed")
    this_actor.set_host(second)
    this_actor.suspend()
    say("goes on")
    this_actor.execute(5e7)
    say("computed")


def monitor() -> None:
    actor = Actor.create("worker", Host.by_name("Fafard"), worker, Host.by_name("Boivin"), Host.by_name("Jacquelin"))
    this_actor.sleep_for(5)
    actor.resume()


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("monitor", Host.by_name("Boivin"), monitor)
engine.run()
print(f"end {Engine.clock:.12f}")

"""actor-suspend: an actor that is suspended awake, asleep, and while it computes."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def lazy() -> None:
    say("stops")
    this_actor.suspend()
    say("goes on")
    this_actor.sleep_for(10)
    say("slept")
    this_actor.execute(2e8)
    say("computed")
    this_actor.sleep_for(5)
    say("slept again")


def dream() -> None:
    actor = Actor.create("lazy", this_actor.get_host(), lazy)
    this_actor.sleep_for(10)
    actor.resume()
    this_actor.sleep_for(3)
    actor.suspend()
    this_actor.sleep_for(2)
    actor.resume()
    this_actor.sleep_for(6)
    actor.suspend()
    this_actor.sleep_for(3)
    actor.resume()
    this_actor.sleep_for(4)
    actor.suspend()
    this_actor.sleep_for(30)
    actor.resume()
    say("all done")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("dream", Host.by_name("Boivin"), dream)
engine.run()
print(f"end {Engine.clock:.12f}")

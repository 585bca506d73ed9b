"""exec-remote: an execution on another host than the actor, beside one of that host."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def wizard() -> None:
    fafard, ginette = Host.by_name("Fafard"), Host.by_name("Ginette")
    activity = this_actor.exec_init(48.492e6)
    activity.host = ginette
    activity.start()
    this_actor.sleep_for(0.1)
    say(f"{activity.remaining:.3f} left")
    activity.wait()
    say("computed elsewhere")
    activity = this_actor.exec_init(1e8)
    activity.host = fafard
    activity.start().wait()
    say("and there")


def local() -> None:
    this_actor.execute(1e8)
    say("computed here")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("wizard", Host.by_name("Fafard"), wizard)
Actor.create("local", Host.by_name("Ginette"), local)
engine.run()
print(f"end {Engine.clock:.12f}")

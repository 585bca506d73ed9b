"""exec-dvfs: other speeds, also of what computes already."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker() -> None:
    host = this_actor.get_host()
    say(f"{host.pstate_count} speeds, now {host.speed:g}")
    this_actor.execute(1e8)
    say("done")
    host.pstate = 2
    say(f"now {host.speed:g}")
    this_actor.execute(1e8)
    say("done")


def changer() -> None:
    this_actor.sleep_for(0.4)
    this_actor.get_host().pstate = 1
    say(f"now {this_actor.get_host().speed:g}")
    assert this_actor.get_host().pstate_speed(2) > 0


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
for name in ("MyHost1", "MyHost2"):
    Actor.create("worker", Host.by_name(name), worker)
Actor.create("changer", Host.by_name("MyHost1"), changer)
engine.run()
print(f"end {Engine.clock:.12f}")

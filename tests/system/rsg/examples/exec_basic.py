"""exec-basic: two executions on one core, one of twice the priority."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(priority: float) -> None:
    this_actor.execute(98095, priority)
    say(f"priority {priority:g}")
    this_actor.execute(0)
    say("nothing is computed in no time")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("executor", Host.by_name("Tremblay"), worker, 1.0)
Actor.create("privileged", Host.by_name("Tremblay"), worker, 2.0)
engine.run()
print(f"end {Engine.clock:.12f}")

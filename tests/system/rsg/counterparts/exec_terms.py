"""exec-async: executions with priorities and bounds, which change while they compute."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(name: str, priority: float, bound: float) -> None:
    execution = this_actor.exec_init(1e8).set_priority(priority)
    if bound > 0:
        execution.set_bound(bound)
    execution.start()
    execution.wait()
    say(f"{name} has computed")


def changer() -> None:
    execution = this_actor.exec_init(2e8).set_priority(3)
    execution.start()
    this_actor.sleep_for(2)
    execution.update_priority(0.5)
    this_actor.execute(1e7, 4)
    say("a short one with priority 4 is over")
    execution.wait()
    say("the one with the changed priority is over")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("worker", Host.by_name("Fafard"), worker, "plain", 1.0, -1.0)
Actor.create("worker", Host.by_name("Fafard"), worker, "double", 2.0, -1.0)
Actor.create("worker", Host.by_name("Fafard"), worker, "bounded", 1.0, 5e6)
Actor.create("changer", Host.by_name("Fafard"), changer)
Actor.create("worker", Host.by_name("Ginette"), worker, "bounded alone", 1.0, 1e7)
engine.run()
print(f"end {Engine.clock:.12f}")

"""Parallel tasks and executions on hosts of several cores; with SimGrid's ptask_L07."""

import sys

from simgrid import Actor, Engine, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def execute(part: float) -> None:
    this_actor.execute(this_actor.get_host().speed * part)
    say(f"executed {part}")


def task(names: list, seconds: list) -> None:
    this_actor.parallel_execute(names, [host.speed * each for host, each in zip(names, seconds, strict=True)], [])
    say(f"task on {len(names)}")


engine = Engine(sys.argv)
Engine.set_config("host/model:ptask_L07")
engine.load_platform(sys.argv[1])
hosts = engine.all_hosts
for number in range(8):
    Actor.create("execute", hosts[0], execute, 1.0 + 0.25 * number)
Actor.create("task", hosts[0], task, hosts[:1], [4.0])
Actor.create("task", hosts[1], task, hosts[:3], [1.0, 2.0, 0.5])
engine.run()
print(f"end {Engine.clock:.12f}")

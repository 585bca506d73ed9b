"""executions on the cores of a host: as many as there are cores, and more."""

import sys

from simgrid import Actor, Engine, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(number: int) -> None:
    this_actor.execute(1e9 + 1e7 * number)
    say(f"{number} done")
    this_actor.sleep_for(0.1 * number)
    this_actor.execute(5e8)
    say(f"{number} done again")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
host = engine.all_hosts[0]
for number in range(host.core_count + 2):
    Actor.create("worker", host, worker, number)
engine.run()
print(f"end {Engine.clock:.12f}")

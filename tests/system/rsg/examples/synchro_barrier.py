"""synchro-barrier: nobody goes on before the last has come."""

import sys

from simgrid import Actor, Barrier, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(number: int) -> None:
    for round_ in range(2):
        this_actor.sleep_for(0.5 * (number + 1))
        barrier.wait()
        say(f"{number} goes on in round {round_}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
barrier = Barrier(4)
for number in range(4):
    Actor.create("worker", Host.by_name("Fafard"), worker, number)
engine.run()
print(f"end {Engine.clock:.12f}")

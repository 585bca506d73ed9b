"""synchro-semaphore: three come in at a time, and some give up."""

import sys

from simgrid import Actor, Engine, Host, Semaphore, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(number: int) -> None:
    this_actor.sleep_for(0.1 * number)
    if number % 3 == 2 and semaphore.acquire_timeout(0.35):
        say(f"{number} gives up")
        return
    if number % 3 != 2:
        semaphore.acquire()
    say(f"{number} is in")
    this_actor.sleep_for(1)
    semaphore.release()


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
semaphore = Semaphore(3)
for number in range(9):
    Actor.create("worker", Host.by_name("Fafard"), worker, number)
engine.run()
print(f"end {Engine.clock:.12f}")

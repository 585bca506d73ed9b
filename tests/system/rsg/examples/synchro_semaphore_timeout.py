"""synchro-semaphore: producers and consumers with two semaphores, one of whom waits only so long."""

import sys

from simgrid import Actor, Engine, Host, Semaphore, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def producer(free: Semaphore, full: Semaphore, buffer: list[str], items: list[str]) -> None:
    for item in items:
        free.acquire()
        buffer.append(item)
        this_actor.execute(3e7)
        say(f"made {item}")
        full.release()


def consumer(free: Semaphore, full: Semaphore, buffer: list[str]) -> None:
    item = ""
    while item != "end":
        while full.acquire_timeout(0.45):
            say(f"nothing for a while; capacity {full.capacity}, would block {full.would_block}")
        item = buffer.pop(0)
        this_actor.sleep_for(0.5)
        say(f"used {item}")
        free.release()


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
free, full = Semaphore(2), Semaphore(0)
buffer: list[str] = []
Actor.create("producer", Host.by_name("Ginette"), producer, free, full, buffer, [*"abcdef", "end"])
Actor.create("consumer", Host.by_name("Fafard"), consumer, free, full, buffer)
engine.run()
print(f"end {Engine.clock:.12f}")

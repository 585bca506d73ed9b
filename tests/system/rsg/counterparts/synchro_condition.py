"""synchro-condition-variable: producers and consumers with a mutex and two condition variables, and a start for all."""

import sys

from simgrid import Actor, ConditionVariable, Engine, Host, Mutex, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


class Shared:
    def __init__(self) -> None:
        self.mutex, self.not_full, self.not_empty, self.start = (
            Mutex(),
            ConditionVariable(),
            ConditionVariable(),
            ConditionVariable(),
        )
        self.items: list[int] = []
        self.has_begun = False


def wait_for_start(shared: Shared) -> None:
    shared.mutex.lock()
    while not shared.has_begun:
        shared.start.wait(shared.mutex)
    shared.mutex.unlock()


def producer(shared: Shared, number: int) -> None:
    wait_for_start(shared)
    for item in range(4):
        this_actor.execute(1e7 * (number + 1))
        shared.mutex.lock()
        while len(shared.items) == 2:
            shared.not_full.wait(shared.mutex)
        shared.items.append(10 * number + item)
        say(f"made {10 * number + item}")
        shared.not_empty.notify_one()
        shared.mutex.unlock()


def consumer(shared: Shared, count: int) -> None:
    wait_for_start(shared)
    for _ in range(count):
        shared.mutex.lock()
        while not shared.items:
            shared.not_empty.wait(shared.mutex)
        item = shared.items.pop(0)
        shared.not_full.notify_one()
        shared.mutex.unlock()
        this_actor.sleep_for(0.33)
        say(f"used {item}")


def starter(shared: Shared) -> None:
    this_actor.sleep_for(1)
    shared.mutex.lock()
    shared.has_begun = True
    shared.start.notify_all()
    this_actor.sleep_for(0.125)
    shared.mutex.unlock()
    say("begins")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
shared = Shared()
Actor.create("producer", Host.by_name("Fafard"), producer, shared, 1)
Actor.create("producer", Host.by_name("Ginette"), producer, shared, 2)
Actor.create("consumer", Host.by_name("Tremblay"), consumer, shared, 5)
Actor.create("consumer", Host.by_name("Jupiter"), consumer, shared, 3)
Actor.create("starter", Host.by_name("Boivin"), starter, shared)
engine.run()
print(f"end {Engine.clock:.12f}")

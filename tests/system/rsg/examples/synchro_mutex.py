"""synchro-mutex: two actors that change one number."""

import sys

from simgrid import Actor, Engine, Host, Mutex, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(mutex: Mutex, name: str, duration: float) -> None:
    for _ in range(3):
        mutex.lock()
        say(f"{name} has it")
        this_actor.sleep_for(duration)
        mutex.unlock()
    with mutex:
        say(f"{name} has it once more")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
shared = Mutex()
Actor.create("one", Host.by_name("Jupiter"), worker, shared, "one", 0.5)
Actor.create("two", Host.by_name("Tremblay"), worker, shared, "two", 0.3)
engine.run()
print(f"end {Engine.clock:.12f}")

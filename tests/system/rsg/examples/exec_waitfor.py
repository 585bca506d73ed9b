"""exec-waitfor: executions for which an actor waits so long, that it looks at, and that it ends."""

import sys

from simgrid import Actor, Engine, Host, TimeoutException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(cancels: bool) -> None:
    execution = this_actor.exec_async(this_actor.get_host().speed * 3)
    for _ in range(4):
        try:
            execution.wait_for(0.8)
            say("computed")
            break
        except TimeoutException:
            say(f"not yet: {execution.remaining:.12f} left, {execution.remaining_ratio:.12f} of all")
        if cancels:
            execution.cancel()
            say("no more of it")
            break


def looker() -> None:
    execution = this_actor.exec_init(5e7)
    execution.start()
    while not execution.test():
        this_actor.sleep_for(0.25)
        say(f"{execution.remaining:.12f} left")
    say("over")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("worker", Host.by_name("Fafard"), worker, False)
Actor.create("worker", Host.by_name("Ginette"), worker, True)
Actor.create("looker", Host.by_name("Tremblay"), looker)
engine.run()
print(f"end {Engine.clock:.12f}")

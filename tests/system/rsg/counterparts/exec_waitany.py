"""exec-waitany: the first of several executions that is over, with and without a limit of time."""

import sys

from simgrid import Actor, Engine, Exec, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(timeout: float) -> None:
    speed = this_actor.get_host().speed
    pending = [this_actor.exec_async(speed * seconds) for seconds in (1.5, 0.5, 2.25, 0.125)]
    while pending:
        place = Exec.wait_any_for(pending, timeout) if timeout > 0 else Exec.wait_any(pending)
        say(f"place {place} of {len(pending)}")
        if place < 0:
            break
        del pending[place]
    for execution in pending:
        execution.cancel()


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("worker", Host.by_name("Tremblay"), worker, -1.0)
Actor.create("worker", Host.by_name("Fafard"), worker, 1.75)
engine.run()
print(f"end {Engine.clock:.12f}")

"""app-master-workers: tasks that are sent, computed, and ended by a poison pill."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor

TASKS = 20


def master(*names: str) -> None:
    for number in range(TASKS):
        name = names[number % len(names)]
        Mailbox.by_name(name).put(5e7 * (1 + number % 3), 1_000_000 * (1 + number % 5))
        print(f"task {number} sent to {name} at {Engine.clock:.12f}")
    for name in names:
        Mailbox.by_name(name).put(-1.0, 0)


def worker() -> None:
    mailbox = Mailbox.by_name(this_actor.get_host().name)
    while (flops := mailbox.get()) > 0:
        this_actor.execute(flops)
        print(f"{mailbox.name} done at {Engine.clock:.12f}")
    print(f"{mailbox.name} ends at {Engine.clock:.12f}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
hosts = ("Ginette", "Bourassa", "Jupiter", "Fafard")
Actor.create("master", Host.by_name("Tremblay"), master, *hosts)
for name in hosts:
    Actor.create("worker", Host.by_name(name), worker)
engine.run()
print(f"end {Engine.clock:.12f}")

"""comm-waitany: the first that is over, until none is left."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    pending = [Mailbox.by_name(f"box {number % 3}").put_async(number, 1_000_000 * (7 - number)) for number in range(6)]
    while pending:
        place = Comm.wait_any(pending)
        say(f"place {place} of {len(pending)} is over")
        del pending[place]


def receiver(number: int) -> None:
    for _ in range(2):
        say(f"received {Mailbox.by_name(f'box {number}').get()}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
for number, name in enumerate(["Fafard", "Jupiter", "Ginette"]):
    Actor.create("receiver", Host.by_name(name), receiver, number)
engine.run()
print(f"end {Engine.clock:.12f}")

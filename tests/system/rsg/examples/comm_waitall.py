"""comm-waitall: puts to two receivers, awaited together."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    pending = [Mailbox.by_name(f"box {number % 2}").put_async(number, 3_000_000) for number in range(6)]
    pending += [Mailbox.by_name(f"box {number}").put_async("end", 0) for number in range(2)]
    say("all begun")
    Comm.wait_all(pending)
    say("all sent")


def receiver(number: int) -> None:
    while True:
        data = Mailbox.by_name(f"box {number}").get()
        say(f"received {data}")
        if data == "end":
            return


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Jupiter"), receiver, 0)
Actor.create("receiver", Host.by_name("Boivin"), receiver, 1)
engine.run()
print(f"end {Engine.clock:.12f}")

"""comm-wait: a put that goes on while its actor sleeps."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    for number in range(3):
        comm = Mailbox.by_name("box").put_async(number, 1_000_000)
        this_actor.sleep_for(0.1 + number)
        comm.wait()
        say(f"sent {number}")


def receiver() -> None:
    this_actor.sleep_for(0.05)
    for _ in range(3):
        comm, data = Mailbox.by_name("box").get_async()
        comm.wait()
        say(f"received {data.get()}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

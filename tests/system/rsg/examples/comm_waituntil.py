"""comm-waituntil: a wait until a date."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    for number in range(3):
        comm = Mailbox.by_name("box").put_async(number, 500_000)
        comm.wait_until(Engine.clock + 100)
        say(f"sent {number}")


def receiver() -> None:
    for _ in range(3):
        say(f"received {Mailbox.by_name('box').get()}")
        this_actor.sleep_for(0.7)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

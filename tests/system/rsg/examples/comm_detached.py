"""a put that nobody waits for, and one that is never received."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    for number in range(3):
        Mailbox.by_name("box").put_init(number, 2_000_000).detach()
        say(f"{number} is on its way")
        this_actor.sleep_for(0.2)
    Mailbox.by_name("nobody").put_init("lost", 1).detach()


def receiver() -> None:
    this_actor.sleep_for(0.3)
    for _ in range(3):
        say(f"received {Mailbox.by_name('box').get()}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

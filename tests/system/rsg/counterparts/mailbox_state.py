"""comm-ready: what a mailbox knows of the puts that wait, and of those that have come to a permanent receiver."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def look(name: str) -> None:
    box = Mailbox.by_name(name)
    say(f"{name}: listen {int(box.listen)}, ready {int(box.ready)}")


def sender() -> None:
    for name in ("plain", "permanent"):
        Mailbox.by_name(name).put_init(b"one", 3_000_000).detach()


def receiver() -> None:
    Mailbox.by_name("permanent").set_receiver(Actor.self())
    this_actor.sleep_for(0.01)
    for _ in range(4):
        look("plain")
        look("permanent")
        this_actor.sleep_for(0.3)
    for name in ("permanent", "plain"):
        Mailbox.by_name(name).get()
        say(f"received from {name}")
        look(name)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("receiver", Host.by_name("Fafard"), receiver)
Actor.create("sender", Host.by_name("Tremblay"), sender)
engine.run()
print(f"end {Engine.clock:.12f}")

"""actor-create: actors that make actors, and what they know of themselves."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def receiver(name: str) -> None:
    say(f"{Actor.self().name} gets {Mailbox.by_name(name).get()}")


def forwarder(name: str) -> None:
    text = Mailbox.by_name(name).get()
    Mailbox.by_name(name + " more").put(text, len(text))


def sender(name: str, text: str) -> None:
    child = Actor.create("child", this_actor.get_host(), receiver, "of the child")
    say(f"pid {this_actor.get_pid()}, parent {this_actor.get_ppid()}, child {child.pid} of {child.ppid}")
    Mailbox.by_name(name).put(text, len(text))
    Mailbox.by_name("of the child").put("good morning", 1000)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("receiver", Host.by_name("Tremblay"), receiver, "a more")
Actor.create("forwarder", Host.by_name("Jupiter"), forwarder, "a")
Actor.create("sender", Host.by_name("Fafard"), sender, "a", "hello there")
engine.run()
print(f"end {Engine.clock:.12f}")

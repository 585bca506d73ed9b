"""links get another bandwidth and latency while they are in use."""

import sys

from simgrid import Actor, Engine, Host, Link, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    for number in range(4):
        Mailbox.by_name("box").put(number, 20_000_000)
        say(f"sent {number}")


def receiver() -> None:
    for _ in range(4):
        Mailbox.by_name("box").get()


def changer() -> None:
    link = Link.by_name("8")
    say(f"{link.bandwidth:g} {link.latency:g}")
    this_actor.sleep_for(3)
    link.set_bandwidth(1e6)
    this_actor.sleep_for(10)
    link.set_bandwidth(7.20975e6)
    link.set_latency(0.1)
    say(f"{link.bandwidth:g} {link.latency:g}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
Actor.create("changer", Host.by_name("Jupiter"), changer)
engine.run()
print(f"end {Engine.clock:.12f}")

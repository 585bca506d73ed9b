"""platform-profile: a host, a bandwidth and a latency that change by profiles, seen by computing, sending and looking."""

import sys

from simgrid import Actor, Engine, Host, Link, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def watcher() -> None:
    one, two, jupiter = Link.by_name("1"), Link.by_name("2"), Host.by_name("Jupiter")
    for _ in range(12):
        say(f"{one.bandwidth:g} {one.latency:g} {two.bandwidth:g} {jupiter.speed:g} {jupiter.available_speed:g}")
        this_actor.sleep_for(1)


def worker() -> None:
    for number in range(4):
        this_actor.execute(4e7)
        say(f"computed {number}")


def sender() -> None:
    for number in range(4):
        Mailbox.by_name("box").put(number, 1_500_000)


def receiver() -> None:
    for _ in range(4):
        say(f"received {Mailbox.by_name('box').get()}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("watcher", Host.by_name("Fafard"), watcher)
Actor.create("worker", Host.by_name("Jupiter"), worker)
Actor.create("sender", Host.by_name("Fafard"), sender)
Actor.create("receiver", Host.by_name("Jupiter"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

"""comm-failure: both sides of a communication whose wait takes too long."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, TimeoutException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    comm = Mailbox.by_name("box").put_async("slow", 1_000_000_000)
    try:
        comm.wait_for(2.5)
    except TimeoutException:
        say("the put took too long")
    this_actor.sleep_for(1)
    comm = Mailbox.by_name("nobody").put_async("lost", 1)
    try:
        comm.wait_for(0.25)
    except TimeoutException:
        say("nobody gets it")


def receiver() -> None:
    try:
        Mailbox.by_name("box").get()
    except TimeoutException:
        say("the get has ended as well")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

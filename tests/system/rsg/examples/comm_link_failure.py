"""comm-failure: a link that goes off under a communication."""

import sys

from simgrid import Actor, Engine, Host, Link, Mailbox, NetworkFailureException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    try:
        Mailbox.by_name("box").put("lost", 100_000_000)
    except NetworkFailureException:
        say("the put has failed")
    this_actor.sleep_for(1)
    try:
        Mailbox.by_name("box").put("lost", 1000)
    except NetworkFailureException:
        say("the link is still off")
    this_actor.sleep_for(2)
    Mailbox.by_name("box").put("found", 1000)
    say("sent at last")


def receiver() -> None:
    for _ in range(3):
        try:
            say(Mailbox.by_name("box").get())
        except NetworkFailureException:
            say("the get has failed")


def breaker() -> None:
    this_actor.sleep_for(2)
    Link.by_name("8").turn_off()
    this_actor.sleep_for(2)
    Link.by_name("8").turn_on()


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
Actor.create("breaker", Host.by_name("Jupiter"), breaker)
engine.run()
print(f"end {Engine.clock:.12f}")

"""what the other side finds of an actor that is killed in a communication."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, NetworkFailureException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def victim() -> None:
    Mailbox.by_name("box").put("lost", 1_000_000_000)


def receiver() -> None:
    try:
        Mailbox.by_name("box").get()
    except NetworkFailureException:
        say("the sender has died")


def killer() -> None:
    this_actor.sleep_for(1.25)
    victim_actor.kill()
    say("killed")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
victim_actor = Actor.create("victim", Host.by_name("Fafard"), victim)
Actor.create("receiver", Host.by_name("Ginette"), receiver)
Actor.create("killer", Host.by_name("Tremblay"), killer)
engine.run()
print(f"end {Engine.clock:.12f}")

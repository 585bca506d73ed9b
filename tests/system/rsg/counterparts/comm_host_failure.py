"""comm-failure: what senders and receivers find when the host at the other end goes off."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, NetworkFailureException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    slow = Mailbox.by_name("slow").put_async("slow", 400_000_000)
    quick = Mailbox.by_name("quick").put_async("quick", 1_000_000)
    pending = [slow, quick]
    while pending:
        try:
            place = Comm.wait_any(pending)
            say(f"place {place} is over")
            del pending[place]
        except NetworkFailureException:
            say("the network has failed")
            pending = [comm for comm in pending if comm is not slow]


def receiver(name: str) -> None:
    try:
        text = Mailbox.by_name(name).get()
        say(f"received {text}")
    except NetworkFailureException:
        say(f"{name}: the network has failed")


def victim() -> None:
    Mailbox.by_name("from the victim").put("lost", 500_000_000)


def switch() -> None:
    this_actor.sleep_for(4)
    Host.by_name("Ginette").turn_off()
    say("off")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Ginette"), receiver, "slow")
Actor.create("receiver", Host.by_name("Fafard"), receiver, "quick")
Actor.create("victim", Host.by_name("Ginette"), victim)
Actor.create("receiver", Host.by_name("Bourassa"), receiver, "from the victim")
Actor.create("switch", Host.by_name("Jupiter"), switch)
engine.run()
print(f"end {Engine.clock:.12f}")

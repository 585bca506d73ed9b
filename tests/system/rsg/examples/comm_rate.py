"""comm-throttling: a put that never has more than a rate."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    box = Mailbox.by_name("box")
    box.put("fast", 10_000_000)
    say("without a rate")
    box.put_init("slow", 10_000_000).set_rate(100_000).wait()
    say("with one")


def receiver() -> None:
    for _ in range(2):
        say(Mailbox.by_name("box").get())


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

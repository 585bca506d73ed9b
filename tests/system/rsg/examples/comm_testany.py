"""comm-testany: a receiver looks now and then which of its gets are over."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def receiver() -> None:
    pending = [Mailbox.by_name(f"box {number}").get_async() for number in range(4)]
    looks = 0
    while pending:
        place = Comm.test_any([comm for comm, _ in pending])
        if place == -1:
            looks += 1
            this_actor.sleep_for(0.3)
            continue
        _, payload = pending.pop(place)
        say(f"place {place}: {payload.get()}, after {looks} looks")


def sender(number: int) -> None:
    this_actor.sleep_for(0.4 * number)
    Mailbox.by_name(f"box {number}").put(f"message {number}", 8_000_000 * (4 - number))
    say(f"sent {number}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("receiver", Host.by_name("Fafard"), receiver)
for number, name in enumerate(["Tremblay", "Jupiter", "Ginette", "Bourassa"]):
    Actor.create("sender", Host.by_name(name), sender, number)
engine.run()
print(f"end {Engine.clock:.12f}")

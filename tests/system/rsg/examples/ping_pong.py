"""app-pingpong: a small message there, a large one back."""

import sys

from simgrid import Actor, Engine, Host, Mailbox

MESSAGES = 200


def pinger(there: Mailbox, back: Mailbox) -> None:
    for number in range(MESSAGES):
        there.put(number, 1)
        assert back.get() == f"answer to {number}"
    print(f"end of the pings {Engine.clock:.12f}")


def ponger(there: Mailbox, back: Mailbox) -> None:
    for _ in range(MESSAGES):
        number = there.get()
        print(f"{number} came at {Engine.clock:.12f}")
        back.put(f"answer to {number}", 1_000_000_000)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
boxes = (Mailbox.by_name("there"), Mailbox.by_name("back"))
Actor.create("pinger", Host.by_name("Tremblay"), pinger, *boxes)
Actor.create("ponger", Host.by_name("Jupiter"), ponger, *boxes)
engine.run()
print(f"end {Engine.clock:.12f}")

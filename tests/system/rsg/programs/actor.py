"""An actor of a scenario: a program of its own on a host of its own."""

import sys

from simunix.rsg import Engine, Mailbox, this_actor

role = sys.argv[1]
if role == "master":
    for number in range(4):
        Mailbox.by_name(f"worker {number % 2}").put(5e8 * (number + 1), 1_000_000)
    for number in range(2):
        Mailbox.by_name(f"worker {number}").put(-1.0, 0)
else:
    while (flops := Mailbox.by_name(role).get()) > 0:
        this_actor.execute(flops)
print(f"{this_actor.get_name()} {this_actor.get_pid()} on {this_actor.get_host().name} ends at {Engine.clock:.6f}")

"""An actor that sends its number to the mailbox of another one, and says when that had it."""

import sys

from simunix.rsg import Engine, Mailbox, this_actor

Mailbox.by_name(sys.argv[1]).put(this_actor.get_pid(), 100_000_000)
print(f"{this_actor.get_name()} {this_actor.get_pid()} on {this_actor.get_host().name} has sent at {Engine.clock:.9f}")

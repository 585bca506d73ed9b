"""An actor that receives at its mailbox, and says what and when; it ends with the code that it is given."""

import sys

from simunix.rsg import Engine, Mailbox, this_actor

number = Mailbox.by_name(sys.argv[1]).get()
print(f"{this_actor.get_name()} {this_actor.get_pid()} on {this_actor.get_host().name} has {number} at {Engine.clock:.9f}")
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)

"""comm-suspend: a communication that is held for a second."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    comm = Mailbox.by_name("box").put_init("hello", 13_194_230)
    this_actor.sleep_for(0.5)
    comm.start()
    this_actor.sleep_for(1.5)
    comm.suspend()
    say("suspended")
    this_actor.sleep_for(1)
    comm.resume()
    comm.wait()
    say("sent")


def receiver() -> None:
    say(Mailbox.by_name("box").get())


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Jupiter"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

"""comm-host2host: transfers between two hosts that an actor on a third one asks for."""

import sys

from simgrid import Actor, Comm, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def mover() -> None:
    tremblay, jupiter, fafard = (Host.by_name(name) for name in ("Tremblay", "Jupiter", "Fafard"))
    first = Comm.sendto_async(tremblay, jupiter, 150_000_000)
    second = Comm.sendto_init(jupiter, fafard)
    second.set_payload_size(100_000_000)
    second.start()
    first.wait()
    say("first")
    second.wait()
    say("second")
    Comm.sendto(fafard, tremblay, 1_000_000)
    say("third")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("mover", Host.by_name("Boivin"), mover)
engine.run()
print(f"end {Engine.clock:.12f}")

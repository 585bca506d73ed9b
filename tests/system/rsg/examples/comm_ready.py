"""comm-ready: a permanent receiver asks whether something has come."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def peer(own: int, count: int) -> None:
    box = Mailbox.by_name(f"peer {own}")
    box.set_receiver(Actor.self())
    pending = []
    for number in range(3):
        for other in range(count):
            if other != own:
                pending.append(Mailbox.by_name(f"peer {other}").put_async(f"{number} from {own}", 1_000_000))
    to_come = 3 * (count - 1)
    while to_come:
        if box.ready:
            say(f"{own} got {box.get()}")
            to_come -= 1
        else:
            this_actor.sleep_for(0.01)
    for comm in pending:
        comm.wait()
    say(f"{own} has sent all")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
for own, name in enumerate(["Tremblay", "Jupiter", "Boivin"]):
    Actor.create("peer", Host.by_name(name), peer, own, 3)
engine.run()
print(f"end {Engine.clock:.12f}")

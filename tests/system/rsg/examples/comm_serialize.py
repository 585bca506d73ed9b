"""comm-serialize: small and large messages share a way, and come as a shared link lets them, not in the order of the puts."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender(sizes: list[int]) -> None:
    Comm.wait_all([Mailbox.by_name("box").put_async({"number": n, "size": size}, size) for n, size in enumerate(sizes)])
    say("all sent")


def receiver(count: int) -> None:
    pending = [Mailbox.by_name("box").get_async() for _ in range(count)]
    while pending:
        place = Comm.wait_any_for([comm for comm, _ in pending], 0.75)
        say(f"message {pending.pop(place)[1].get()}" if place >= 0 else "nothing for a while")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
sizes = [50_000_000, 1, 2_000_000, 20_000_000, 300]
Actor.create("sender", Host.by_name("Tremblay"), sender, sizes)
Actor.create("receiver", Host.by_name("Fafard"), receiver, len(sizes))
engine.run()
print(f"end {Engine.clock:.12f}")

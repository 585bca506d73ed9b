"""app-chainsend: pieces of a file go from host to host, each passed on at once."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


PIECES, BYTES = 8, 4_000_000


def sender(first: str) -> None:
    pending = [Mailbox.by_name(first).put_async(piece, BYTES) for piece in range(PIECES)]
    Comm.wait_all(pending)
    say("all sent")


def peer(name: str, following: str) -> None:
    pending = []
    for _ in range(PIECES):
        piece = Mailbox.by_name(name).get()
        say(f"{name} has piece {piece}")
        if following:
            pending.append(Mailbox.by_name(following).put_async(piece, BYTES))
    Comm.wait_all(pending)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
names = ["Ginette", "Bourassa", "Jupiter", "Fafard"]
Actor.create("sender", Host.by_name("Tremblay"), sender, names[0])
for name, following in zip(names, [*names[1:], ""], strict=True):
    Actor.create("peer", Host.by_name(name), peer, name, following)
engine.run()
print(f"end {Engine.clock:.12f}")

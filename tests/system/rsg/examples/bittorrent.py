"""app-bittorrent: peers learn of each other from a tracker, ask for pieces, and serve what they have; one begins with all."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor

PIECES, PIECE_BYTES, REQUEST_BYTES = 6, 4_000_000, 70


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def tracker(count: int) -> None:
    """Tell each peer of those that have come before it."""
    known: list[str] = []
    for _ in range(count):
        name = Mailbox.by_name("tracker").get()
        Mailbox.by_name(f"answer to {name}").put(list(known), 100 + 6 * len(known))
        known.append(name)
        say(f"knows {len(known)}")


def server(name: str, pieces: set[int]) -> None:
    """Send pieces to those that ask, and say of those that are not there that they are not."""
    Actor.self().daemonize()
    while True:
        piece, asker = Mailbox.by_name(f"requests to {name}").get()
        has = piece in pieces
        Mailbox.by_name(f"pieces for {asker}").put_init((piece, has), PIECE_BYTES if has else REQUEST_BYTES).detach()


def peer(name: str, begin: float, pieces: set[int]) -> None:
    this_actor.sleep_for(begin)
    Actor.create("server", this_actor.get_host(), server, name, pieces)
    Mailbox.by_name("tracker").put(name, REQUEST_BYTES)
    others = Mailbox.by_name(f"answer to {name}").get()
    say(f"{name} hears of {others}")
    turn = len(name)
    while len(pieces) < PIECES:
        missing = [piece for piece in range(PIECES) if piece not in pieces]
        wanted = [missing[(turn + at) % len(missing)] for at in range(min(2, len(missing)))]
        requests = []
        for at, piece in enumerate(wanted):
            there = Mailbox.by_name(f"requests to {others[(turn + at) % len(others)]}")
            requests.append(there.put_async((piece, name), REQUEST_BYTES + 10 * piece))  # no two arrive at once
        Comm.wait_all(requests)
        for _ in wanted:
            piece, has = Mailbox.by_name(f"pieces for {name}").get()
            if has:
                pieces.add(piece)
            say(f"{name} {'got' if has else 'did not get'} piece {piece}")
        turn += 1
    say(f"{name} has all")
    this_actor.sleep_for(60)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
names = ["Fafard", "Ginette", "Bourassa", "Jacquelin", "Boivin"]
Actor.create("tracker", Host.by_name("Tremblay"), tracker, len(names))
for place, name in enumerate(names):
    Actor.create("peer", Host.by_name(name), peer, name, 0.75 * place, set() if place else set(range(PIECES)))
engine.run()
print(f"end {Engine.clock:.12f}")

"""dht-chord: a ring of nodes with finger tables; look-ups are passed on until a node knows the answer."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor

BITS, BYTES = 6, 10_000
SIZE = 1 << BITS


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def is_between(key: int, low: int, high: int) -> bool:
    """Whether `key` is behind `low`, and not behind `high`, on the ring."""
    return 0 < (key - low) % SIZE <= ((high - low) % SIZE or SIZE)


def node(own: int, ring: list[int]) -> None:
    """Answer requests, or pass them to the finger that is nearest before the key."""
    fingers = [next((n for n in ring if n >= (own + (1 << bit)) % SIZE), ring[0]) for bit in range(BITS)]
    pending = []
    while (request := Mailbox.by_name(f"node {own}").get()) is not None:
        key, asker, steps = request
        this_actor.execute(1e5)
        if is_between(key, own, fingers[0]):
            pending.append(Mailbox.by_name(asker).put_async((key, fingers[0], steps), BYTES))
        else:
            nearest = next((finger for finger in reversed(fingers) if is_between(finger, own, key - 1)), fingers[0])
            pending.append(Mailbox.by_name(f"node {nearest}").put_async((key, asker, steps + 1), BYTES))
    Comm.wait_all(pending)
    say(f"node {own} leaves")


def client(start: int, keys: list[int], ring: list[int]) -> None:
    for key in keys:
        Mailbox.by_name(f"node {start}").put((key, "client", 0), BYTES)
        key, owner, steps = Mailbox.by_name("client").get()
        say(f"key {key} is at node {owner}, after {steps} steps")
    for number in ring:
        Mailbox.by_name(f"node {number}").put(None, BYTES)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
ring = [1, 8, 14, 21, 32, 38, 42, 48, 51, 56]
names = ["Tremblay", "Jupiter", "Fafard", "Ginette", "Bourassa", "Jacquelin", "Boivin"]
for place, number in enumerate(ring):
    Actor.create("node", Host.by_name(names[place % len(names)]), node, number, ring)
Actor.create("client", Host.by_name("Tremblay"), client, 8, [54, 10, 24, 30, 38, 63, 0, 8, 50], ring)
engine.run()
print(f"end {Engine.clock:.12f}")

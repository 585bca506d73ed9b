"""io-disk-raw: actors read and write on the disks of their hosts, alone and at one time."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def user() -> None:
    for disk in this_actor.get_host().get_disks():
        say(f"has {disk.name}")
    disk = this_actor.get_host().get_disks()[0]
    say(f"wrote {disk.write(200_000)}")
    say(f"read {disk.read(200_000)}")
    say(f"wrote {disk.write(12_345_670, 2.0)}")


def reader(size: int) -> None:
    disk = this_actor.get_host().get_disks()[0]
    for number in range(3):
        disk.read(size * (number + 1))
        say(f"read {number} of {size}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("user", Host.by_name("bob"), user)
Actor.create("user", Host.by_name("alice"), user)
for size in (1_000_000, 3_333_333, 7_654_321):
    Actor.create("reader", Host.by_name("bob"), reader, size)
engine.run()
print(f"end {Engine.clock:.12f}")

"""io-async: reads and writes that go on while their actor does something else, and others that it waits for."""

import sys

from simgrid import Actor, Engine, Host, Io, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def user(size: int) -> None:
    disk = this_actor.get_host().get_disks()[0]
    write = disk.write_async(size)
    this_actor.sleep_for(0.25)
    read = disk.read_async(2 * size)
    this_actor.execute(3e8)
    say(f"the write is over: {write.test()}")
    write.wait()
    say("wrote")
    read.wait()
    say("read")


def several() -> None:
    disk = this_actor.get_host().get_disks()[0]
    pending = [disk.read_async(size) for size in (30_000_001, 10_000_000, 20_000_000)]
    while pending:
        place = Io.wait_any_for(pending, 0.3)
        say(f"place {place} of {len(pending)}")
        if place >= 0:
            del pending[place]


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("user", Host.by_name("bob"), user, 20_000_000)
Actor.create("user", Host.by_name("alice"), user, 50_000_003)
Actor.create("several", Host.by_name("alice"), several)
engine.run()
print(f"end {Engine.clock:.12f}")

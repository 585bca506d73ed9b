"""io-dependent: an execution that begins after a read, a write that begins after the execution, on disks of two hosts."""

import sys

from simgrid import Actor, Engine, Host, Io, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def user(name: str, size: int) -> None:
    read = Host.by_name("bob").get_disks()[0].io_init(size, Io.OpType.READ)
    computed = this_actor.exec_init(1.5 * this_actor.get_host().speed)
    write = Host.by_name("alice").get_disks()[0].io_init(2 * size, Io.OpType.WRITE)
    read.add_successor(computed)
    computed.add_successor(write)
    write.set_priority(2)
    computed.start()
    write.start()
    read.start()
    for activity in (read, computed, write):
        activity.wait()
        say(f"{name} one more")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("user", Host.by_name("bob"), user, "first", 20_000_000)
Actor.create("user", Host.by_name("bob"), user, "second", 45_000_001)
engine.run()
print(f"end {Engine.clock:.12f}")

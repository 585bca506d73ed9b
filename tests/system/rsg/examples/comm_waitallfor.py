"""comm-waitallfor: how many of several communications, in their order, are over after a time; the others go on."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def receiver(timeout: float) -> None:
    pending = [Mailbox.by_name(f"box {number} {timeout}").get_async() for number in range(3)]
    while pending:
        count = Comm.wait_all_for([comm for comm, _ in pending], timeout)
        for _, payload in pending[:count]:
            say(f"timeout {timeout:g}: {payload.get()}")
        say(f"timeout {timeout:g}: {count} of {len(pending)} were over")
        del pending[:count]


def sender(timeout: float) -> None:
    sizes = (30_000_000, 10_000_000, 60_000_000)
    Comm.wait_all([Mailbox.by_name(f"box {number} {timeout}").put_async(number, size) for number, size in enumerate(sizes)])


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
for place, timeout in enumerate((0.5, 2.0, -1.0)):
    Actor.create("receiver", Host.by_name(["Fafard", "Ginette", "Jupiter"][place]), receiver, timeout)
    Actor.create("sender", Host.by_name("Tremblay"), sender, timeout)
engine.run()
print(f"end {Engine.clock:.12f}")

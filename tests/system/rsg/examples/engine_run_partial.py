"""engine-run-partial: a simulation that stops at dates, with actors that are made in between."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def worker(number: int) -> None:
    say(f"worker {number} begins")
    this_actor.execute(this_actor.get_host().speed * 2.5)
    say(f"worker {number} has computed")
    Mailbox.by_name(f"box {number}").put(number, 40_000_000)
    say(f"worker {number} has sent")


def collector(number: int) -> None:
    say(f"received {Mailbox.by_name(f'box {number}').get()}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
for number in range(3):
    Actor.create("worker", Host.by_name("Tremblay"), worker, number)
    Actor.create("collector", Host.by_name("Fafard"), collector, number)
    engine.run_until(1 + 2.75 * number)
    print(f"stopped at {Engine.clock:.12f}")
engine.run()
print(f"over at {Engine.clock:.12f}")
Actor.create("worker", Host.by_name("Jupiter"), worker, 9)
Actor.create("collector", Host.by_name("Jupiter"), collector, 9)
engine.run()
print(f"end {Engine.clock:.12f}")

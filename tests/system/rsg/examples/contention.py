"""communications and executions of many actors that meet."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def source(number: int) -> None:
    this_actor.sleep_for(0.01 * number)
    boxes = [Mailbox.by_name(f"sink {(number + step) % 6}") for step in range(5)]
    pending = [box.put_async((number, step), 500_000 * (step + 1)) for step, box in enumerate(boxes)]
    this_actor.execute(1e7 * (number + 1))
    say(f"{number} has computed")
    Comm.wait_all(pending)
    say(f"{number} has sent")


def sink(number: int) -> None:
    for _ in range(5):
        who, step = Mailbox.by_name(f"sink {number}").get()
        say(f"{number} got step {step} of {who}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
names = ["Tremblay", "Fafard", "Ginette", "Bourassa", "Jupiter", "Jacquelin"]
for number, name in enumerate(names):
    Actor.create("source", Host.by_name(name), source, number)
    Actor.create("sink", Host.by_name(names[-1 - number]), sink, number)
engine.run()
print(f"end {Engine.clock:.12f}")

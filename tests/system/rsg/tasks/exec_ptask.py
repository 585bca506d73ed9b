"""exec-ptask: parallel tasks alone, beside each other, beside an execution and a communication; with SimGrid's ptask_L07."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor

NAMES = ["Tremblay", "Jupiter", "Fafard", "Ginette", "Bourassa"]


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def hosts(count: int) -> list[Host]:
    return [Host.by_name(name) for name in NAMES[:count]]


def runner() -> None:
    this_actor.parallel_execute(hosts(3), [1e9, 1e9, 1e9], [0, 1e7, 2e7, 0, 0, 5e6, 0, 0, 0])
    say("both")
    this_actor.parallel_execute(hosts(3), [1e8, 2e8, 3e8], [0.0] * 9)
    say("computing")
    this_actor.parallel_execute(hosts(3), [0.0] * 3, [0, 1e6, 1e6, 2e6, 0, 2e6, 3e6, 3e6, 0])
    say("communicating")
    this_actor.parallel_execute(hosts(2), [0.0] * 2, [0.0] * 4)
    say("nothing")


def beside(start: float, count: int, flops: float, size: float) -> None:
    this_actor.sleep_for(start)
    this_actor.parallel_execute(hosts(count), [flops] * count, [size] * count * count)
    say(f"task on {count}")


def computer() -> None:
    this_actor.execute(5e8)
    say("executed")


def sender() -> None:
    Mailbox.by_name("box").put("x", 30_000_000)


def receiver() -> None:
    Mailbox.by_name("box").get()
    say("received")


engine = Engine(sys.argv)
Engine.set_config("host/model:ptask_L07")
engine.load_platform(sys.argv[1])
Actor.create("runner", Host.by_name("Tremblay"), runner)
Actor.create("beside", Host.by_name("Ginette"), beside, 3.0, 5, 3e8, 2e6)
Actor.create("beside", Host.by_name("Ginette"), beside, 7.0, 2, 2e8, 7e6)
Actor.create("computer", Host.by_name("Jupiter"), computer)
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Fafard"), receiver)
engine.run()
print(f"end {Engine.clock:.12f}")

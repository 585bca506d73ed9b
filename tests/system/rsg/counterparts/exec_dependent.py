"""exec-dependent: executions that begin after others, on several hosts; waited for in the order of their ends, and late."""

import sys

from simgrid import Actor, Engine, Exec, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def made(seconds: float, host: str) -> Exec:
    execution = this_actor.exec_init(seconds * Host.by_name(host).speed)
    execution.host = Host.by_name(host)
    return execution


def diamond() -> None:
    first, left, right, last = (
        made(*terms) for terms in ((1, "Tremblay"), (2, "Jupiter"), (3.5, "Fafard"), (0.25, "Tremblay"))
    )
    first.add_successor(left).add_successor(right)
    left.add_successor(last)
    right.add_successor(last)
    for execution in (last, left, right, first):
        execution.start()
    pending = [first, left, right, last]
    while pending:
        place = Exec.wait_any(pending)
        say(f"place {place} of {len(pending)}, {[len(one.get_dependencies()) for one in pending]} before")
        del pending[place]


def late() -> None:
    first, second, third = made(1, "Ginette"), made(1, "Ginette"), made(1, "Bourassa")
    first.add_successor(second)
    second.add_successor(third)
    first.start()
    third.start()
    this_actor.sleep_for(1.75)
    say(f"told only now, solved {second.dependencies_solved()}: {first.test()}, solved {second.dependencies_solved()}")
    second.wait()
    say("second, which began by itself")
    third.wait()
    say("third")


def terms() -> None:
    first, second = made(0.5, "Jacquelin"), made(1, "Jacquelin")
    first.add_successor(second)
    second.host = Host.by_name("Boivin")
    second.set_bound(Host.by_name("Boivin").speed / 4)
    second.start()
    first.wait()
    say("first")
    second.wait()
    say("second, on another host and at a quarter of its speed")


def removed() -> None:
    first, second = made(1, "Boivin"), made(1, "Boivin")
    first.add_successor(second)
    first.start()
    second.start()
    this_actor.sleep_for(0.5)
    first.remove_successor(second)
    this_actor.sleep_for(0.125)
    second.start()
    first.wait()
    say("first")
    second.wait()
    say("second, beside it")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
for function in (diamond, late, terms, removed):
    Actor.create(function.__name__, Host.by_name("Tremblay"), function)
engine.run()
print(f"end {Engine.clock:.12f}")

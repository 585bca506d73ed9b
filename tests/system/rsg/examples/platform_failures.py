"""platform-failures: a master and workers on hosts and links that profiles switch off and on."""

import sys

from simgrid import Actor, Engine, Host, HostFailureException, Mailbox, NetworkFailureException, TimeoutException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def master(names: list[str], tasks: int) -> None:
    for number in range(tasks):
        name = names[number % len(names)]
        try:
            Mailbox.by_name(name).put_async(5e7, 1_000_000).wait_for(10)
            say(f"{name} has task {number}")
        except TimeoutException:
            say(f"nobody at {name}")
        except NetworkFailureException:
            say(f"{name} could not be reached")
    for name in names:
        try:
            Mailbox.by_name(name).put_async(-1.0, 0).wait_for(1)
            say(f"{name} has been told to end")
        except (TimeoutException, NetworkFailureException):
            say(f"{name} could not be told to end")


def worker() -> None:
    name = this_actor.get_host().name
    while True:
        try:
            flops = Mailbox.by_name(name).get()
        except NetworkFailureException:
            say("did not get its task")
            continue
        if flops < 0:
            break
        this_actor.execute(flops)
        say("computed")
    say("ends")


def starter(names: list[str]) -> None:
    """Make a worker on each host as soon as it is on."""
    waiting = list(names)
    while waiting:
        for name in list(waiting):
            try:
                Actor.create("worker", Host.by_name(name), worker)
                waiting.remove(name)
            except HostFailureException:
                say(f"{name} is off")
        this_actor.sleep_for(0.75)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
names = ["Ginette", "Fafard", "Jupiter", "Bourassa"]
Actor.create("master", Host.by_name("Tremblay"), master, names, 12)
Actor.create("starter", Host.by_name("Tremblay"), starter, names)
engine.run()
print(f"end {Engine.clock:.12f}")

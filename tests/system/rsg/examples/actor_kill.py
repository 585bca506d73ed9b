"""actor-kill: actors that are killed while they sleep, compute and wait, by others and by themselves."""

import sys

from simgrid import Actor, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sleeper() -> None:
    this_actor.on_exit(lambda failed: print(f"exit {failed} at {Engine.clock:.12f}"))
    say("sleeps")
    this_actor.sleep_for(100)
    say("never")


def computer() -> None:
    this_actor.execute(1e12)
    say("never")


def waiter() -> None:
    Mailbox.by_name("nothing comes").get()
    say("never")


def killer() -> None:
    victims = [Actor.create("victim", Host.by_name("Fafard"), victim) for victim in (sleeper, computer, waiter)]
    this_actor.sleep_for(2)
    for victim in victims:
        victim.kill()
    say("killed three")
    this_actor.sleep_for(1)
    victims[0].join()
    this_actor.exit()
    say("never")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("killer", Host.by_name("Tremblay"), killer)
engine.run()
print(f"end {Engine.clock:.12f}")

"""actor-exiting: what is called at the end of actors that return, are killed, end themselves, and are daemons."""

import sys

from simgrid import Actor, Engine, Host, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def announce(name: str) -> None:
    this_actor.on_exit(lambda failed: print(f"first of {name}: failed {bool(failed)} at {Engine.clock:.12f}"))
    this_actor.on_exit(lambda failed: print(f"second of {name}: failed {bool(failed)} at {Engine.clock:.12f}"))


def returns() -> None:
    announce("the one that returns")
    this_actor.execute(1e9)


def leaves() -> None:
    announce("the one that leaves")
    this_actor.sleep_for(3.5)
    this_actor.exit()


def sleeps() -> None:
    announce("the one that is killed")
    this_actor.sleep_for(1000)


def daemon() -> None:
    announce("the daemon")
    Actor.self().daemonize()
    say(f"daemon: {Actor.self().is_daemon()}")
    this_actor.sleep_for(1000)


def killer(victim: Actor) -> None:
    this_actor.sleep_for(5)
    say(f"victim is {victim.name}, suspended: {victim.is_suspended()}, still there: {Actor.by_pid(victim.pid) is not None}")
    victim.kill()
    this_actor.yield_()
    say("killed")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("returns", Host.by_name("Tremblay"), returns)
Actor.create("leaves", Host.by_name("Fafard"), leaves)
victim = Actor.create("sleeps", Host.by_name("Jupiter"), sleeps)
Actor.create("daemon", Host.by_name("Boivin"), daemon)
Actor.create("killer", Host.by_name("Ginette"), killer, victim)
engine.run()
print(f"end {Engine.clock:.12f}")

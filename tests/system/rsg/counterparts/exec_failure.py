"""exec-failure: a host that goes off under executions, of its own actors and of others, and that comes back."""

import sys

from simgrid import Actor, Engine, Host, HostFailureException, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def resident(seconds: float) -> None:
    this_actor.on_exit(lambda failed: print(f"the resident ends at {Engine.clock:.12f}, failed {int(failed)}"))
    this_actor.execute(this_actor.get_host().speed * seconds)
    say("never, the first time")


def remote() -> None:
    fafard = Host.by_name("Fafard")
    execution = this_actor.exec_init(1e9)
    execution.host = fafard
    execution.start()
    try:
        execution.wait()
        say("never")
    except HostFailureException:
        say(f"the execution has failed; the host is on: {int(fafard.is_on())}")
    this_actor.sleep_for(2)
    say(f"the host is on: {int(fafard.is_on())}")
    Actor.create("resident", fafard, resident, 1.5).join()
    say("joined the second resident")


def switch() -> None:
    fafard = Host.by_name("Fafard")
    this_actor.sleep_for(2.5)
    fafard.turn_off()
    say("off")
    try:
        Actor.create("resident", fafard, resident, 1.0)
        say("never")
    except HostFailureException:
        say("no actor can be made there")
    this_actor.sleep_for(1)
    fafard.turn_on()
    say("on")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("resident", Host.by_name("Fafard"), resident, 10.0)
Actor.create("remote", Host.by_name("Tremblay"), remote)
Actor.create("switch", Host.by_name("Jupiter"), switch)
engine.run()
print(f"end {Engine.clock:.12f}")

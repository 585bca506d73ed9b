"""Errors of activities that begin after others, and an actor that waits for one that never begins."""

import sys

from simunix import rsg
from simunix.rsg import Actor, Comm, Engine, Exec, Host, Mailbox, this_actor


def made(seconds: float = 1.0) -> Exec:
    return this_actor.exec_init(seconds * this_actor.get_host().speed)


def told(action: object) -> str:
    """What an action fails with."""
    try:
        action()  # type: ignore[operator]
    except rsg.RsgError as error:
        return f"{type(error).__name__}: {str(error).rpartition(': ')[2]}"
    return "nothing"


def teller() -> None:
    first, second, third = made(), made(), made()
    first.add_successor(second)
    second.add_successor(third)
    print("cycle:", told(lambda: third.add_successor(first)))
    print("twice:", told(lambda: first.add_successor(second)))
    print("not there:", told(lambda: first.remove_successor(third)))
    begun = this_actor.exec_async(1e6)
    print("begun:", told(lambda: first.add_successor(begun)))
    begun.wait()
    print("over:", told(lambda: first.add_successor(begun)))
    third.host = Host.by_name("Fafard")
    first.start().wait()
    Host.by_name("Fafard").turn_off()
    second.wait()
    print("failed at its beginning:", told(third.wait))
    put = Mailbox.by_name("box").put_init("payload", 1e6)
    before = made()
    before.add_successor(put)
    put.start()
    print("time is over:", told(lambda: put.wait_for(0.5)), put.get_dependencies())
    held = made()
    before.add_successor(held)
    held.start().suspend()
    before.wait()
    held.resume().wait()
    print(f"went on {Engine.clock:.3f}")
    transfer = Comm.sendto_init(Host.by_name("Tremblay"), Host.by_name("Jupiter")).set_payload_size(1e6)
    last = made()
    transfer.add_successor(last)
    transfer.start().cancel()
    last.wait()


engine = Engine(sys.argv)
Actor.create("teller", Host.by_name("Tremblay"), teller)
engine.run()

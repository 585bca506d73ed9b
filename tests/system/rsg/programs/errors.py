"""Each error at the call that it belongs to, and the run goes on."""

import sys

from simunix.rsg._librsg import ffi, lib

from simunix import rsg
from simunix.rsg import Actor, Engine, Host, Link, Mailbox, this_actor


def told(action: object) -> str:
    """What an action fails with."""
    try:
        action()  # type: ignore[operator]
    except rsg.RsgError as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def waited_twice() -> None:
    number = ffi.new("int64_t *")
    assert lib.rsg_execute_async(-1, 1e6, 1.0, -1.0, number) == 0
    assert lib.rsg_wait(number[0], -1.0, ffi.NULL) == 0
    print("waited twice:", ffi.string(lib.rsg_error_text(lib.rsg_wait(number[0], -1.0, ffi.NULL))).decode())
    print("never begun:", ffi.string(lib.rsg_error_text(lib.rsg_wait(number[0] + 1000, -1.0, ffi.NULL))).decode())


def cancelled() -> None:
    """A wait for what was cancelled, whichever activity; asking whether it is over is no error."""
    for activity in (Mailbox.by_name("cancelled").put_async("x", 1), this_actor.exec_async(1e9)):
        activity.cancel()
        print(f"wait for a cancelled {type(activity).__name__}:", told(activity.wait), activity.test())


def wrong_numbers() -> None:
    """Numbers with which nothing can be computed."""
    link, execution = Link.by_name("8"), this_actor.exec_async(1.0)
    for value in (-1.0, float("inf"), float("nan"), 1e308):
        print(f"bandwidth {value}:", told(lambda value=value: link.set_bandwidth(value)))
        print(f"latency {value}:", told(lambda value=value: link.set_latency(value)))
    print("priority:", told(lambda: this_actor.execute(1, float("inf"))))
    print("new priority:", told(lambda: execution.update_priority(1e308)))
    print("sleep:", told(lambda: this_actor.sleep_for(float("nan"))))
    print("barrier:", told(lambda: rsg.Barrier(0)))
    print("semaphore:", told(lambda: rsg.Semaphore(-1)))
    print("no activities:", told(lambda: rsg.Comm.wait_any([])))
    try:
        Actor.create("nothing", this_actor.get_host(), 3)
    except TypeError as error:
        print("no function:", error)


def teller() -> None:
    box = Mailbox.by_name("box")
    print("host:", told(lambda: Host.by_name("nowhere")))
    print("link:", told(lambda: Link.by_name("nothing")))
    print("negative size:", told(lambda: box.put("x", -1)))
    print("no number:", told(lambda: this_actor.execute(float("nan"))))
    print("unknown mailbox:", told(lambda: rsg.connection.call(lib.rsg_mailbox_receiver, 1 << 40, -1)))
    print("pstate:", told(lambda: setattr(this_actor.get_host(), "pstate", 7)))
    print("parallel task:", told(lambda: this_actor.parallel_execute([this_actor.get_host()], [1.0], [])))
    waited_twice()
    cancelled()
    wrong_numbers()
    mutex = rsg.Mutex()
    print("not owner:", told(mutex.unlock))
    mutex.lock()
    print("locked twice:", told(mutex.lock))
    print("timeout:", told(lambda: box.get(timeout=0.5)), Engine.clock)
    Link.by_name("8").turn_off()
    Actor.create("peer", Host.by_name("Fafard"), lambda: told(lambda: box.put("x", 1)))
    print("link down:", told(box.get))
    Link.by_name("8").turn_on()
    Host.by_name("Fafard").turn_off()
    print("host off:", told(lambda: Actor.create("peer", Host.by_name("Fafard"), print)))
    comm = box.put_async("x", 1)
    comm.cancel()
    print("end", Engine.clock)


engine = Engine(sys.argv)
Actor.create("teller", Host.by_name("Tremblay"), teller)
engine.run()

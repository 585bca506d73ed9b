"""Functions of actors, for scenarios and deployment files."""

import time

from simunix.rsg import Engine, Mailbox, this_actor


def _say(text: str) -> None:
    print(f"{Engine.clock:.6f} {this_actor.get_name()} on {this_actor.get_host().name}: {text}", flush=True)


def sender(count: str, size: str) -> None:
    for number in range(int(count)):
        Mailbox.by_name("box").put(number, float(size))
    _say(f"has sent {count}")


def receiver() -> None:
    while True:
        _say(f"got {Mailbox.by_name('box').get()}")


def counter() -> None:
    for number in range(100):
        _say(f"counts {number}")
        this_actor.sleep_for(1)


def sleeper() -> None:
    """Waits in a call that is none of Remote SimGrid's."""
    _say("sleeps")
    time.sleep(100)
    _say("never")


def switcher(host: str) -> None:
    from simunix.rsg import Host

    this_actor.sleep_for(2.5)
    Host.by_name(host).turn_off()
    this_actor.sleep_for(2)
    Host.by_name(host).turn_on()
    _say("has switched")

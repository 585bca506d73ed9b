"""Actors that wait for each other."""

import sys

from simunix.rsg import Actor, Engine, Host, Mailbox, Mutex, this_actor


def holder(mutex: Mutex) -> None:
    mutex.lock()
    Mailbox.by_name("nothing comes").get()


def other(mutex: Mutex) -> None:
    this_actor.sleep_for(1.5)
    mutex.lock()


engine = Engine(sys.argv)
shared = Mutex()
Actor.create("holder", Host.by_name("Tremblay"), holder, shared)
Actor.create("other", Host.by_name("Jupiter"), other, shared)
engine.run()

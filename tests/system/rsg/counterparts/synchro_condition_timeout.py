"""synchro-condition-variable-waituntil: waits for a notification that have an end, a duration or a date."""

import sys

from simgrid import Actor, ConditionVariable, Engine, Host, Mutex, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def patient(mutex: Mutex, condition: ConditionVariable) -> None:
    mutex.lock()
    for duration in (0.5, 2.0, 5.0):
        is_late = condition.wait_for(mutex, duration)
        say(f"waited at most {duration:g}: late {int(is_late)}")
    for date in (9.25, 20.0):
        is_late = condition.wait_until(mutex, date)
        say(f"waited until {date:g} at most: late {int(is_late)}")
    mutex.unlock()


def notifier(mutex: Mutex, condition: ConditionVariable) -> None:
    for pause in (1.75, 3.5, 7.0):
        this_actor.sleep_for(pause)
        mutex.lock()
        condition.notify_one()
        this_actor.sleep_for(0.25)
        mutex.unlock()
        say("notified")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
mutex, condition = Mutex(), ConditionVariable()
Actor.create("patient", Host.by_name("Fafard"), patient, mutex, condition)
Actor.create("notifier", Host.by_name("Tremblay"), notifier, mutex, condition)
engine.run()
print(f"end {Engine.clock:.12f}")

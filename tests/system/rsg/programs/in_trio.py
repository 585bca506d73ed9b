"""A trio program whose tasks wait for activities of one actor, beside trio's own sleeps; other actors are at the other ends."""

import contextlib

import trio

from simunix.rsg import (
    Actor,
    Barrier,
    CancelException,
    Comm,
    Engine,
    Host,
    Mailbox,
    Semaphore,
    TimeoutException,
    in_trio,
    this_actor,
)


def say(text: str) -> None:
    print(f"{Engine.clock:.9f} {text}", flush=True)


def other_end() -> None:
    Mailbox.by_name("first").put("hello", 100_000_000)
    this_actor.sleep_until(10)
    try:
        Mailbox.by_name("withdrawn").put("late", 1000, 1.0)
    except TimeoutException:
        say("other: nobody gets what was withdrawn")


async def task(name: str, wait, *arguments) -> None:
    found = await wait(*arguments)
    say(f"{name} {'' if found is None else found}".rstrip())


async def together() -> None:
    """A get, two executions on two cores, a sleep, all at once."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task, "got", in_trio.get, Mailbox.by_name("first"))
        nursery.start_soon(task, "computed", in_trio.execute, 1e9)
        nursery.start_soon(task, "computed", in_trio.execute, 0.5e9)
        nursery.start_soon(task, "slept", trio.sleep, 0.7)


async def cancelled() -> None:
    """Waits that are cancelled: the execution ends, and so does the get; an activity that was only waited for goes on."""
    with trio.move_on_after(1):
        await in_trio.execute(100e9)
    execution = this_actor.exec_async(3e9)
    with trio.move_on_after(1):
        await in_trio.wait(execution)
    say(f"left is {execution.remaining:.0f}")
    await in_trio.wait(execution)
    say("waited again")
    with trio.move_on_after(1):
        await in_trio.get(Mailbox.by_name("withdrawn"))
    say(f"withdrawn: empty {Mailbox.by_name('withdrawn').empty}")


async def synchronised() -> None:
    semaphore, barrier = Semaphore(0), Barrier(2)
    with trio.move_on_after(1):
        await in_trio.acquire(semaphore)
    semaphore.release()
    await in_trio.acquire(semaphore)
    say(f"semaphore: {semaphore.capacity} left")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(in_trio.arrive, barrier)
        nursery.start_soon(in_trio.arrive, barrier)
    child = Actor.create("child", Host.by_name("bob"), this_actor.sleep_for, 2.0)
    await in_trio.join(child)
    say("joined")


async def failing() -> None:
    comms = [Mailbox.by_name(name).put_async("x", 1000) for name in ("one", "other")]
    with contextlib.suppress(TimeoutException):
        await in_trio.wait_for(comms[0], 1)
        say("never")
    say("timeout")
    comms[1].cancel()
    try:
        await in_trio.wait_all([Comm.sendto_async(Host.by_name("alice"), Host.by_name("carol"), 100_000_000)])
        place = await in_trio.wait_any(
            [Comm.sendto_async(Host.by_name("alice"), Host.by_name("carol"), size) for size in (9e8, 1e8)]
        )
        say(f"place {place}")
    except CancelException:
        say("never")


async def main() -> None:
    Actor.create("other", Host.by_name("carol"), other_end)
    await together()
    await cancelled()
    await synchronised()
    await failing()
    say(f"the actors are {[actor.name for actor in Actor.all()]}")


in_trio.run(main)

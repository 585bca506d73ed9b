"""An actor in trio that is killed while its tasks wait: nothing of it runs any more."""

import trio

from simunix.rsg import Actor, Engine, Host, Mailbox, in_trio, this_actor


async def task() -> None:
    try:
        await in_trio.get(Mailbox.by_name("nothing"))
    finally:
        print(f"{Engine.clock:.6f} a task ends", flush=True)


async def two_tasks() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(task)
        nursery.start_soon(task)


def victim() -> None:
    this_actor.on_exit(lambda has_failed: print(f"victim: failed {has_failed}", flush=True))
    in_trio.run(two_tasks)
    print("never")


def main() -> None:
    actor = Actor.create("victim", Host.by_name("bob"), victim)
    this_actor.sleep_for(1)
    actor.kill()
    actor.join()
    this_actor.sleep_for(1)
    print(f"{Engine.clock:.6f} end", flush=True)


main()

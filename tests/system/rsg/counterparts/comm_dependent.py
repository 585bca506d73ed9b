"""comm-dependent: a put and transfers that begin after executions, and executions that begin after these."""

import sys

from simgrid import Actor, Comm, Engine, Host, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def sender() -> None:
    computed = this_actor.exec_init(2 * this_actor.get_host().speed)
    put = Mailbox.by_name("box").put_init("payload", 30_000_000)
    after = this_actor.exec_init(this_actor.get_host().speed)
    computed.add_successor(put)
    put.add_successor(after)
    put.start()
    after.start()
    computed.wait()
    say(f"computed, {put.dependencies_solved()} {after.dependencies_solved()}")
    put.wait()
    say("sent")
    after.wait()
    say("computed again")


def receiver() -> None:
    get, payload = Mailbox.by_name("box").get_init()
    computed = this_actor.exec_init(this_actor.get_host().speed / 2)
    get.add_successor(computed)
    get.start()
    computed.start()
    get.wait()
    say(f"received {payload.get()}")
    computed.wait()
    say("computed")


def between() -> None:
    names = ["Ginette", "Bourassa", "Jacquelin"]
    hosts = [Host.by_name(name) for name in names]
    first = Comm.sendto_init(hosts[0], hosts[1]).set_payload_size(5_000_000)
    second = Comm.sendto_init(hosts[1], hosts[2])
    computed = this_actor.exec_init(1e8)
    computed.host = hosts[2]
    first.add_successor(second)
    second.add_successor(computed)
    second.set_payload_size(7_000_000)
    second.start()
    computed.start()
    first.start()
    for activity in (first, second, computed):
        activity.wait()
        say("one more")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("sender", Host.by_name("Tremblay"), sender)
Actor.create("receiver", Host.by_name("Jupiter"), receiver)
Actor.create("between", Host.by_name("Fafard"), between)
engine.run()
print(f"end {Engine.clock:.12f}")

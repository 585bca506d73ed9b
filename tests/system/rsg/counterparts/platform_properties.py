"""platform-properties: what hosts and links say of themselves."""

import sys

from simgrid import Actor, Engine, Host, Link, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def asker() -> None:
    for host in Engine.instance.all_hosts:
        say(f"{host.name}: {host.core_count} cores of {host.speed:.6f} flop/s, {host.pstate_count} speeds, now {host.pstate}")
        this_actor.sleep_for(0.5)
    for key in ("Hdd", "nothing"):
        say(f"{key}: {Host.by_name('host1').property(key)}")
    links, latency = Host.by_name("host1").route_to(Host.by_name("host2"))
    first = links[0]
    say(f"{len(links)} links, {latency:.9f} s: {first.name}, {first.bandwidth:.3f} B/s, {Link.by_name('l1').latency:.9f} s")
    host = this_actor.get_host()
    execution = this_actor.exec_async(host.speed)
    this_actor.sleep_for(0.25)
    say(f"load {host.load:.6f}")
    execution.wait()
    say(f"load {host.load:.6f}")


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("asker", Host.by_name("host1"), asker)
engine.run()
print(f"end {Engine.clock:.12f}")

"""app-token-ring: a token goes round all hosts."""

import sys

from simgrid import Actor, Engine, Mailbox, this_actor


def say(text: str) -> None:
    print(f"{this_actor.get_host().name} {Engine.clock:.12f} {text}")


def node(rank: int, count: int) -> None:
    mine, following = Mailbox.by_name(str(rank)), Mailbox.by_name(str((rank + 1) % count))
    if rank == 0:
        following.put("token", 1_000_000)
        mine.get()
        say("the token is back")
    else:
        mine.get()
        say(f"{rank} has the token")
        following.put("token", 1_000_000)


engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
hosts = sorted(engine.all_hosts, key=lambda host: host.name)
for rank, host in enumerate(hosts):
    Actor.create(str(rank), host, node, rank, len(hosts))
engine.run()
print(f"end {Engine.clock:.12f}")

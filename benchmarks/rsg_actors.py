"""The actors of `simunix bench rsg`: this one script runs both with simunix.rsg and with SimGrid's own Python module.

rsg_actors.py PLATFORM MODULE LOAD ACTORS ROUNDS, where LOAD is `ping-pong` (two actors; ROUNDS messages), `random` (each actor
sends ROUNDS messages to others drawn at random, then receives its own) or `sleepers` (each actor sleeps ROUNDS times).
"""

import sys
from collections import Counter

PLATFORM, MODULE, LOAD = sys.argv[1:4]
ACTORS, ROUNDS = map(int, sys.argv[4:6])
if MODULE == "simgrid":
    from simgrid import Actor, Engine, Host, Mailbox, this_actor
else:
    from simunix.rsg import Actor, Engine, Host, Mailbox, this_actor


def ping(count):
    there, back = Mailbox.by_name("there"), Mailbox.by_name("back")
    for _ in range(count):
        there.put("x", 1)
        back.get()


def pong(count):
    there, back = Mailbox.by_name("there"), Mailbox.by_name("back")
    for _ in range(count):
        there.get()
        back.put("x", 1)


def talk(own, receivers, come):
    boxes = [Mailbox.by_name(str(receiver)) for receiver in receivers]
    box = Mailbox.by_name(str(own))
    for to in boxes:
        to.put_init("x", 1000).detach()
    for _ in range(come):
        box.get()


def rest(draws):
    for drawn in draws:
        this_actor.sleep_for(0.001 * (1 + drawn))


def draws(below, state=1):
    """Yield pseudo-random numbers from 0 to `below` − 1, equal to those of rsg_actors.cpp (Knuth's generator in TAOCP
    3.3.4, with MMIX's constants).
    """
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 33) % below


def create(hosts):
    if LOAD == "ping-pong":
        Actor.create("ping", hosts[0], ping, ROUNDS // 2)
        Actor.create("pong", hosts[1], pong, ROUNDS // 2)
        return
    drawn = draws(ACTORS)
    sent = [[next(drawn) for _ in range(ROUNDS)] for _ in range(ACTORS)]
    come = Counter(receiver for receivers in sent for receiver in receivers)
    for own in range(ACTORS):
        host = hosts[own % len(hosts)]
        if LOAD == "sleepers":
            Actor.create(str(own), host, rest, sent[own])
        else:
            Actor.create(str(own), host, talk, own, sent[own], come[own])


engine = Engine(sys.argv[:1])
engine.load_platform(PLATFORM)
names = ("one", "two") if LOAD == "ping-pong" else tuple(f"node-{place}" for place in range(100))
create([Host.by_name(name) for name in names])
engine.run()
print(f"{Engine.clock:.9f}")

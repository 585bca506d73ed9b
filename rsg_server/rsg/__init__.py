"""Remote SimGrid: what programs ask for that name the simulation, in the terms of SimGrid's S4U.

Owns the actors, mailboxes, communications, executions and synchronisation of such programs, and a clock in seconds that is
finer than the emulation's nanoseconds. Knows the threads behind the actors, and wakes them; knows no message but OP_RSG.
"""

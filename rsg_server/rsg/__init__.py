"""Remote SimGrid: the operations of programs that use the simulation by name, in the terms of SimGrid's S4U.

Owns the actors, mailboxes, communications, executions and synchronisation of such programs, and a clock in seconds that is
finer than the emulation's nanoseconds. This folder knows the threads behind the actors, and wakes them. It knows no message
but OP_RSG.
"""

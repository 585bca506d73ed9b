"""Remote SimGrid: operations by which programs use the simulation explicitly, in the terms of SimGrid's S4U.

This folder has the actors, mailboxes, communications, executions and synchronisation objects of such programs, and a
clock in seconds that is finer than the emulation's nanoseconds. It knows the threads behind the actors, and wakes them.
The only message that it handles is OP_RSG.
"""

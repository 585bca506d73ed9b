"""Remote SimGrid: operations by which programs use the simulation explicitly, in the terms of SimGrid's S4U.

This folder has the actors, mailboxes, communications, executions and synchronisation objects of such programs, and a
clock in seconds that is finer than the emulation's nanoseconds. The code of this folder knows the threads behind the
actors, and wakes them. OP_RSG is the only message that the folder handles.
"""

"""The I/O coordinator of N. Vidal ("Dash – Data-Aware Scheduling at Higher Scale", thesis, Bordeaux, 2022), as a daemon.

Applications ask it before each I/O phase and tell it when the phase is over; it decides who may use the disk. It is an ordinary
program over sockets that knows nothing of simunix, and runs on real computers as well: standard library only.

    wire          the messages, and what an address is
    application   what the coordinator knows of an application
    policies      whom to grant next
    coordinator   who waits, who has the disk: without sockets
    daemon        the sockets: `python3 -m simunix.io_coordinator`
    client        what an application calls around its I/O; io_coordinator.h is that for C
    periodic      a synthetic application: computes, writes, so many times: `python3 -m simunix.io_coordinator.periodic`
    groups        exclusive groups of applications that share the disk: which to choose
"""

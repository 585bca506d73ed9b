"""The I/O coordinator of N. Vidal ("Dash – Data-Aware Scheduling at Higher Scale", thesis, Bordeaux, 2022), as a
daemon.

An application asks the coordinator before each I/O phase, and reports the end of the phase; the coordinator decides
which application may use the disk. The coordinator is an ordinary program over sockets. It knows nothing of simunix,
runs on real computers as well, and needs the standard library only.

    wire          the messages, and what an address is
    application   what the coordinator knows of an application
    policies      whom to grant next
    coordinator   who waits, who has the disk: without sockets
    daemon        the sockets: `python3 -m simunix.io_coordinator`
    client        what an application calls around its I/O; io_coordinator.h is that for C
    periodic      a synthetic application: computes, writes, so many times: `python3 -m simunix.io_coordinator.periodic`
    groups        exclusive groups of applications that share the disk: which to choose
"""

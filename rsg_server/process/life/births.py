"""Announces new processes before they exist, and computes their random seeds.

A process gets its number when it is announced, so the order of the announcements decides the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process.process import Process

if TYPE_CHECKING:
    from rsg_server.options import KernelOptions
    from rsg_server.process.host_state import HostState
    from rsg_server.process.signals import Signals
    from rsg_server.shared.clock import Clock


class Births:
    """Announces processes and enters them into `processes` by number.

    `hosts` are all hosts by name, in the platform's order.
    """

    def __init__(
        self,
        clock: Clock,
        options: KernelOptions,
        hosts: dict[str, HostState],
        processes: dict[int, Process],
        signals: Signals,
    ) -> None:
        self._clock, self._options, self._hosts = clock, options, hosts
        self._processes, self._signals = processes, signals
        self._next = 1

    def seed_of_host(self, name: str) -> int:
        """Return the random seed for what the processes of a host share.

        The seed is made from a number below 0, whereas seeds of processes are made from numbers above 0.
        """
        return seed_of(self._options.seed, -1 - list(self._hosts).index(name))

    def new_process(self, host: HostState, parent: Process | None, program: str) -> Process:
        """Announce a process that is about to be created, and return it.

        The announcement gives the process its number, so numbers are in the order of births.
        """
        number, options = self._next, self._options
        self._next += 1
        nofile = parent.nofile if parent else (options.nofile, options.nofile_hard)
        process = Process(number, host, parent, program, seed=seed_of(options.seed, number), nofile=nofile)
        process.descriptor_floor = parent.descriptor_floor if parent else options.nofile
        process.born_ns = self._clock.now_ns
        host.births += 1
        if parent is not None:
            parent.children.append(process)
            if parent.hears_kernel:
                # the parent has sent the message that announced the process
                self._signals.listen_to_kernel(process, is_at_terminal=False)
            process.label, process.cpu_policy = parent.label, parent.cpu_policy
            process.cpu_limit, process.filters = parent.cpu_limit, parent.filters
        self._processes[number] = process
        return process


def seed_of(seed: int, number: int) -> int:
    """Return a random seed of 62 bits from the run's seed and a number, by multiplicative hashing (Knuth TAOCP 6.4)."""
    return ((seed + 1) * 0x9E3779B97F4A7C15 ^ number * 0xBF58476D1CE4E5B9) & (1 << 62) - 1


def seed_of_image(process: Process) -> int:
    """Return the random seed of the program that a process runs.

    Each exec changes the seed, so that two programs of a process get different random numbers.
    """
    return seed_of(process.seed, process.images)

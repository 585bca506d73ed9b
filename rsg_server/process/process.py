"""A process: its host, its family, its threads, and the pidfd that reports its death."""

from __future__ import annotations

import os
import signal
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi
from rsg_server.observers import Observers
from rsg_server.process.host_state import HostState
from rsg_server.storage.counts import IoCounts

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.zombies import Zombie


_STATUS_MAX = 16384
_PENDING = ("\nSigPnd:", "\nShdPnd:")


@dataclass(slots=True)
class Timer:
    """A timer of one process: ITIMER_REAL (id 0) or a POSIX timer. Times are virtual ns; `next_ns` is 0 if it is not armed."""

    next_ns: int = 0
    interval_ns: int = 0
    signal: int = 0
    tid: int = 0
    value: int = 0
    event: Event | None = None
    was_sent: bool = False
    overruns: int = 0  # the overruns of the last signal: for how many further expirations the signal was sent
    # the thread or process whose CPU time the timer counts, also in `next_ns`; None: virtual time
    cpu_of: Actor | Process | None = None
    overruns_taken: int = 0  # the overruns of the signal before the last one


def _record() -> Any:
    """Return a new struct turn_process for a process that has neither a pidfd nor a limit of memory."""
    return ffi.new("struct turn_process *", {"pidfd": -1, "memory_due_ns": -1})


@dataclass(eq=False, slots=True)
class Process:
    """An emulated process. `pid` is its number in its host's PID namespace, `global_pid` that in the server's.

    The values that every turn needs are in `record`, a struct turn_process, which the server's C code (csrc/turn/) also
    reads.
    """

    number: int
    host: HostState
    parent: Process | None
    program: str
    _: KW_ONLY
    seed: int
    nofile: tuple[int, int]
    descriptor_floor: int = 1024  # descriptors with this number or a higher one belong to the shim
    pid: int = 0
    global_pid: int = 0
    actors: list[Actor] = field(default_factory=list)
    children: list[Process] = field(default_factory=list)
    zombies: list[Zombie] = field(default_factory=list)  # dead children for which the process may not have waited yet
    timers: dict[int, Timer] = field(default_factory=dict)
    vfork_parent: Actor | None = None
    is_quiet: bool = False  # the process was born by a vfork and has not sent HELLO: its first message tells its pid
    has_let_go: bool = False  # this process has called exec or died, so that its parent, which waits in vfork, may go on
    hears_kernel: bool = False  # the kernel may send signals of its own to the process (from terminals, for O_ASYNC files)
    seen_pending: int = 0  # the mask of the kernel's signals that were pending when the server last looked
    told: int = 0  # the mask of the signals that were sent inside of the emulation
    doomed: list[Process] = field(default_factory=list)  # the members of a process group that this process is about to kill
    orphaned_ns: int = -1  # the virtual time of its parent's death
    dead: bool = False
    # the exit status that the process announced; for a dead program that `Programs.spawn` has started, the status that
    # wait(2) returns
    exit_status: int | None = None
    started: bool = False  # whether `Programs.spawn` has started the process, and not another emulated process
    label: str = ""
    # the CPU policy of the started process from which this process descends; empty: the policy of the host
    # (rsg_server.processor.policies)
    cpu_policy: str = ""
    born_ns: int = 0
    cpu_ns: int = 0  # the CPU time that the process has been charged
    children_cpu_ns: int = 0  # the CPU time that its dead children, and their dead children, had been charged
    # the CPU time of each dead child that had been charged, by pid
    dead_children_ns: dict[int, int] = field(default_factory=dict)
    io: IoCounts = field(default_factory=IoCounts)
    images: int = 0  # the number of programs that the process has run
    # the filters of system calls that the process has set for itself: mode and number (seccomp(2))
    filters: tuple[int, int] = (0, 0)
    reaper: Process | None = (
        # the first process of the PID namespace of this process, maybe itself; None: the process is in its host's
        # namespace
        None
    )
    # for the first process of a PID namespace: the first process of the namespace around; None: the host's
    outside: Process | None = None
    cgroup: object | None = None  # a rsg_server.cgroups.group.Group; None: the root group
    cgroup_cpu_ns: int = 0  # the value of `cpu_ns` when the process entered its cgroup
    memory_used: int = 0  # the bytes of memory at the last count for the cgroup
    is_traced: bool = False  # the host's init has to load the shim into the next program that the process executes
    on_exit: Observers[Process] = field(default_factory=Observers)
    record: Any = field(default_factory=_record)
    _cpu_limit: tuple[int, int] | None = None
    _has_cpu_timers: bool = False

    def __post_init__(self) -> None:
        self.record.number, self.record.woken_in = self.number, self.host.woken_in

    def __repr__(self) -> str:
        return f"{os.path.basename(self.program) or '?'}[{self.pid}]@{self.host.name}"

    @property
    def pidfd(self) -> int:
        """The descriptor that becomes readable when the real process has ended; -1 if there is none."""
        pidfd: int = self.record.pidfd
        return pidfd

    @pidfd.setter
    def pidfd(self, pidfd: int) -> None:
        self.record.pidfd = pidfd

    @property
    def stopped(self) -> bool:
        """Whether a signal has stopped the process."""
        return bool(self.record.stopped)

    @stopped.setter
    def stopped(self, stopped: bool) -> None:
        self.record.stopped = stopped

    @property
    def frozen(self) -> bool:
        """Whether the process's cgroup is frozen."""
        return bool(self.record.frozen)

    @frozen.setter
    def frozen(self, frozen: bool) -> None:
        self.record.frozen = frozen

    @property
    def is_held(self) -> bool:
        """Whether no thread of the process may have a turn, because a signal has stopped it or its cgroup is frozen."""
        return bool(self.record.stopped or self.record.frozen)

    @property
    def has_boxes(self) -> bool:
        """Whether threads of the process may leave requests in their boxes in shared memory (rsg_server.shared.boxes)."""
        return bool(self.record.has_boxes)

    @has_boxes.setter
    def has_boxes(self, has_boxes: bool) -> None:
        self.record.has_boxes = has_boxes

    @property
    def memory_due_ns(self) -> int:
        """The moment (virtual ns) from which on the process's memory is counted again; -1: never."""
        due_ns: int = self.record.memory_due_ns
        return due_ns

    @memory_due_ns.setter
    def memory_due_ns(self, due_ns: int) -> None:
        self.record.memory_due_ns = due_ns

    @property
    def cpu_limit(self) -> tuple[int, int] | None:
        """The limit of CPU time (RLIMIT_CPU) in seconds, soft and hard; None if the real kernel keeps the limit."""
        return self._cpu_limit

    @cpu_limit.setter
    def cpu_limit(self, limit: tuple[int, int] | None) -> None:
        self._cpu_limit = limit
        self.record.is_timed = self.is_timed

    @property
    def has_cpu_timers(self) -> bool:
        """Whether the process has made timers of CPU time."""
        return self._has_cpu_timers

    @has_cpu_timers.setter
    def has_cpu_timers(self, has_timers: bool) -> None:
        self._has_cpu_timers = has_timers
        self.record.is_timed = self.is_timed

    @property
    def is_timed(self) -> bool:
        """Whether the process has a timer or a limit of CPU time, which may expire while the process computes."""
        return self._has_cpu_timers or self._cpu_limit is not None

    @property
    def host_name(self) -> str:
        """The name of the host on which the process runs."""
        return self.host.name

    def open_pidfd(self, global_pid: int) -> None:
        """Open the pidfd of the real process. Raises ProcessLookupError if the process is gone already."""
        self.global_pid = global_pid
        self.pidfd = os.pidfd_open(global_pid)

    def new_pending(self) -> list[int]:
        """Return the signals that have become pending for the process or its main thread since the last call, in
        ascending order.
        """
        pending = pending_mask(self.global_pid)
        fresh, self.seen_pending = pending & ~self.seen_pending, pending
        return [number for number in range(1, 65) if fresh >> (number - 1) & 1]

    def is_dying(self) -> bool:
        """Return whether SIGKILL has reached the process.

        A SIGKILL that was sent may not have reached the process: the sender may lack the permission (kill(2), EPERM).
        """
        status = self.status_fields()
        if not status or status.get("State", "Z")[0] in "ZX":
            return True
        return bool((int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)) >> (signal.SIGKILL - 1) & 1)

    def take_doomed(self) -> list[Process]:
        """Return the processes that this process has said it will kill, and clear the list."""
        taken, self.doomed = self.doomed, []
        return taken

    def group(self) -> int:
        """Return the process group, as numbered in the host's PID namespace; -1 if the process is gone."""
        return number_at_level(self.status_fields().get("NSpgid", ""), self.host.level)

    def session(self) -> int:
        """Return the session, as numbered in the host's PID namespace; -1 if the process is gone."""
        return number_at_level(self.status_fields().get("NSsid", ""), self.host.level)

    def is_within(self, reaper: Process) -> bool:
        """Return whether the process is in the PID namespace whose first process is `reaper`, or in a namespace within
        that one.
        """
        own = self.reaper
        while own is not None and own is not reaper:
            own = own.outside
        return own is reaper

    def status_fields(self) -> dict[str, str]:
        """Return the fields of /proc/PID/status by name; {} if the process is gone."""
        return status_fields(self.global_pid)


def number_at_level(numbers: str, level: int) -> int:
    """Return a number out of NSpid, NSpgid or NSsid of /proc/PID/status, which list one for each PID namespace; -1: none.

    Each of these lists begins with the number in the reader's namespace. If the list is too short, its last number is
    returned: in a unit test the server has no namespaces below its own.
    """
    fields = numbers.split()
    return int(fields[min(level, len(fields) - 1)]) if fields else -1


def status_fields(global_pid: int) -> dict[str, str]:
    """Return the fields of /proc/PID/status by name; {} if there is no such process."""
    return dict(line.split(":\t", 1) for line in _status(global_pid).splitlines() if ":\t" in line)


def pending_mask(global_pid: int) -> int:
    """Return the mask of the signals that are pending for a process or its main thread; 0 if there is no such process."""
    text = _status(global_pid)
    pending = 0
    for word in _PENDING:
        at = text.find(word)
        if at >= 0:
            pending |= int(text[at + len(word) : text.index("\n", at + 1)], 16)
    return pending


def _status(global_pid: int) -> str:
    """Return the text of /proc/PID/status; "" if there is no such process."""
    try:
        fd = os.open(f"/proc/{global_pid}/status", os.O_RDONLY | os.O_CLOEXEC)  # a Python file object would take twice as long
    except (FileNotFoundError, ProcessLookupError):
        return ""
    try:
        return os.read(fd, _STATUS_MAX).decode(errors="surrogateescape")
    except ProcessLookupError:
        return ""
    finally:
        os.close(fd)

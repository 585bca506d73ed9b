"""Gives the constants of csrc/shared/protocol.h names in Python.

The values of the constants are read from the compiled header through cffi.
"""

from enum import IntEnum
from typing import Final

from rsg_server._native import ffi, lib
from rsg_server.messages import SHAPES as SHAPES
from rsg_server.messages import Op as Op


def _number(name: str) -> int:
    number: int = getattr(lib, name)
    return number


class Hello(IntEnum):
    """The kind of actor (thread, new process, exec'd program, …) that sends HELLO, the first message."""

    NEW_IMAGE = _number("HELLO_NEW_IMAGE")
    FORKED = _number("HELLO_FORKED")
    THREAD = _number("HELLO_THREAD")
    LATE = _number("HELLO_LATE")
    REAPER = _number("HELLO_REAPER")


class Fork(IntEnum):
    """The kind of child that a FORK message announces."""

    THREAD = _number("FORK_THREAD")
    PROCESS = _number("FORK_PROCESS")
    VFORK = _number("FORK_VFORK")
    VFORK_IN_ORDER = _number("FORK_VFORK_IN_ORDER")
    SIBLING = _number("FORK_SIBLING")
    EVENT = _number("FORK_EVENT")


class Wait(IntEnum):
    """The kinds of waits: what an actor waits for after it has given the turn back."""

    TIME = _number("PARK_TIME")
    FD = _number("PARK_FD")
    FUTEX = _number("PARK_FUTEX")
    CHILD = _number("PARK_CHILD")
    SIGNAL = _number("PARK_SIGNAL")
    LOCK = _number("PARK_LOCK")
    CONNECT = _number("PARK_CONNECT")
    YIELD = _number("PARK_YIELD")
    VFORK = _number("PARK_VFORK")
    PREEMPTED = _number("PARK_PREEMPTED")
    COMPUTE = _number("PARK_COMPUTE")
    TRACED = _number("PARK_TRACED")
    CHARGE = _number("PARK_CHARGE")
    CHARGE_REST = _number("PARK_CHARGE_REST")
    STORAGE = _number("PARK_STORAGE")
    RSG = _number("PARK_RSG")


class Space(IntEnum):
    """Spaces of futexes that are not in memory: in such a space, the number of a kernel object stands for the futex word."""

    SEMAPHORES = _number("SPACE_SEMAPHORES")
    QUEUES = _number("SPACE_QUEUES")
    FIFOS = _number("SPACE_FIFOS")
    LOCKS = _number("SPACE_LOCKS")
    MANY = _number("SPACE_MANY")


class Wake(IntEnum):
    """The reasons for which the server wakes a waiting actor."""

    READY = _number("WAKE_READY")
    TIMEOUT = _number("WAKE_TIMEOUT")
    SIGNAL = _number("WAKE_SIGNAL")
    ELSEWHERE = _number("WAKE_ELSEWHERE")
    REST = _number("WAKE_REST")


class TimerId(IntEnum):
    """The numbers of a process's three interval timers (setitimer(2)); other numbers are timers of timer_create(2)."""

    REAL = _number("TIMER_REAL")
    VIRTUAL = _number("TIMER_VIRTUAL")
    PROF = _number("TIMER_PROF")


class Stop(IntEnum):
    """The reasons for which a thread stops for its tracer (ptrace(2))."""

    SIGNAL = _number("STOP_SIGNAL")
    ENTRY = _number("STOP_ENTRY")
    EXIT = _number("STOP_EXIT")
    EVENT = _number("STOP_EVENT")
    EXEC = _number("STOP_EXEC")


class Resume(IntEnum):
    """How a thread that has stopped for its tracer goes on (ptrace(2)). The lower 8 bits are the signal to deliver."""

    SYSCALL = _number("RESUME_SYSCALL")
    STEP = _number("RESUME_STEP")
    DETACHED = _number("RESUME_DETACHED")
    STOPS_AGAIN = _number("RESUME_STOPS_AGAIN")


class Storage(IntEnum):
    """The requests of a STORAGE message: what a program does to a file on a modelled storage."""

    ROOM = _number("STORAGE_ROOM")
    READ = _number("STORAGE_READ")
    WRITE = _number("STORAGE_WRITE")
    THROUGH = _number("STORAGE_THROUGH")
    SYNC = _number("STORAGE_SYNC")
    ALL = _number("STORAGE_ALL")
    CUT = _number("STORAGE_CUT")
    DIRECT_READ = _number("STORAGE_DIRECT_READ")
    DIRECT_WRITE = _number("STORAGE_DIRECT_WRITE")
    LOOK = _number("STORAGE_LOOK")
    CHANGE = _number("STORAGE_CHANGE")
    AHEAD = _number("STORAGE_AHEAD")
    FORGET = _number("STORAGE_FORGET")
    FLUSH = _number("STORAGE_FLUSH")
    NO_ROOM = _number("STORAGE_NO_ROOM")


class StorageFlag(IntEnum):
    """Flags of a file on a modelled storage: how the program has found it.

    On a mount without a page cache files are not known.
    """

    OPENED = _number("STORAGE_OPENED")
    UNCACHED = _number("STORAGE_UNCACHED")


class PowerFile(IntEnum):
    """The requests of a message about a power file (cpufreq, RAPL, …): what a program does to it."""

    TEXT = _number("POWER_FILE_TEXT")
    REGISTER = _number("POWER_FILE_REGISTER")
    WRITE = _number("POWER_FILE_WRITE")


class DeviceRequest(IntEnum):
    """The requests of a DEVICE message: what a program asks about a file that stands for a device."""

    TELL = _number("DEVICE_TELL")
    MADE = _number("DEVICE_MADE")
    OPEN = _number("DEVICE_OPEN")
    DESCRIPTOR = _number("DEVICE_DESCRIPTOR")
    FORGET = _number("DEVICE_FORGET")
    OPEN_REAL = _number("DEVICE_OPEN_REAL")
    ON_MOUNT = _number("DEVICE_ON_MOUNT")


class ProgramRequest(IntEnum):
    """The requests about eBPF programs that decide which processes may open devices."""

    LOAD = _number("PROGRAM_LOAD")
    ATTACH = _number("PROGRAM_ATTACH")
    DETACH = _number("PROGRAM_DETACH")
    QUERY = _number("PROGRAM_QUERY")
    FIND = _number("PROGRAM_FIND")


class Driver(IntEnum):
    """The drivers of devices: what an open device does when it is read and written."""

    NOTHING = _number("DRIVER_NOTHING")
    MEMORY = _number("DRIVER_MEMORY")
    RANDOM = _number("DRIVER_RANDOM")
    TERMINAL = _number("DRIVER_TERMINAL")


WAIT_TIME: Final = int(Wait.TIME)
WAIT_FD: Final = int(Wait.FD)
WAIT_FUTEX: Final = int(Wait.FUTEX)
WAIT_CHILD: Final = int(Wait.CHILD)
WAIT_SIGNAL: Final = int(Wait.SIGNAL)
WAIT_LOCK: Final = int(Wait.LOCK)
WAIT_CONNECT: Final = int(Wait.CONNECT)
WAIT_YIELD: Final = int(Wait.YIELD)
WAIT_VFORK: Final = int(Wait.VFORK)
WAIT_PREEMPTED: Final = int(Wait.PREEMPTED)
WAIT_COMPUTE: Final = int(Wait.COMPUTE)
WAIT_TRACED: Final = int(Wait.TRACED)
WAIT_CHARGE: Final = int(Wait.CHARGE)
WAIT_CHARGE_REST: Final = int(Wait.CHARGE_REST)
WAIT_STORAGE: Final = int(Wait.STORAGE)
WAKE_READY: Final = int(Wake.READY)
WAKE_TIMEOUT: Final = int(Wake.TIMEOUT)
WAKE_SIGNAL: Final = int(Wake.SIGNAL)
WAKE_ELSEWHERE: Final = int(Wake.ELSEWHERE)
WAKE_REST: Final = int(Wake.REST)
SPACE_LOCKS: Final = int(Space.LOCKS)
SPACE_MANY: Final = int(Space.MANY)
"""The number of the futex space with several words. Looking a member up in its class takes 0.1 µs, too long for every turn."""


class DatagramField(IntEnum):
    """Flags in a datagram's header: which fields the sender has set, or the receiver wants to get."""

    HOP_LIMIT = _number("DATAGRAM_HOP_LIMIT")
    TRAFFIC_CLASS = _number("DATAGRAM_TRAFFIC_CLASS")
    DESTINATION = _number("DATAGRAM_DESTINATION")
    TIME = _number("DATAGRAM_TIME")
    TIME_NS = _number("DATAGRAM_TIME_NS")
    TIMES = _number("DATAGRAM_TIMES")
    MORE = _number("DATAGRAM_MORE")


class WarningKind(IntEnum):
    """The kinds of warnings that a shim sends to the server."""

    UNKNOWN_SYSCALL = _number("WARN_UNKNOWN_SYSCALL")
    REFUSED = _number("WARN_REFUSED")
    ESCAPE = _number("WARN_ESCAPE")
    FATAL = _number("WARN_FATAL")
    REAL = _number("WARN_REAL")


MESSAGE_MAX: Final[int] = lib.SIMUNIX_MESSAGE_MAX
MOST_TOLD: Final = 1 << 62
"""The largest amount (bytes, flops, ns) that the server tells an actor. The server's floats would round (1 << 63) - 1 up."""
PROTOCOL_VERSION: int = lib.SIMUNIX_PROTOCOL_VERSION
SOCKET_NAME_LENGTH: int = lib.SIMUNIX_SOCKET_NAME_LENGTH
PTRACE_STOPPED_BY_SIGNAL: int = lib.PTRACE_STOPPED_BY_SIGNAL
SHARED_BYTES: int = lib.SIMUNIX_SHARED_BYTES
SLOTS: Final[int] = lib.SIMUNIX_SLOTS
STREAMS: Final[int] = lib.SIMUNIX_STREAMS
STREAMS_OFFSET: int = lib.SIMUNIX_STREAMS_OFFSET
STREAM_CONNECTED: Final[int] = lib.STREAM_CONNECTED
STREAM_LISTENS: Final[int] = lib.STREAM_LISTENS
STREAM_READS_NO_MORE: Final[int] = lib.STREAM_READS_NO_MORE
STREAM_MORE: Final[int] = lib.STREAM_MORE
LATE_MOST: Final[int] = lib.SIMUNIX_LATE_MOST
TRAP_PLACES: int = lib.SIMUNIX_TRAP_PLACES
JOURNAL_MAX: Final[int] = lib.SIMUNIX_JOURNAL_MAX
HANDOFF_MAX: Final[int] = lib.SIMUNIX_HANDOFF_MAX
PREEMPT_CODE: int = lib.SIMUNIX_PREEMPT_CODE
CGROUPS_USED: int = lib.CGROUPS_USED
CGROUPS_COUNT_MEMORY: int = lib.CGROUPS_COUNT_MEMORY
CGROUP_READ_EMPTIED: int = lib.CGROUP_READ_EMPTIED
CGROUP_READ_NOW: int = lib.CGROUP_READ_NOW
CGROUP_READ_AGAIN: int = lib.CGROUP_READ_AGAIN
CGROUP_DEVICE_SHIFT: int = lib.SIMUNIX_CGROUP_DEVICE_SHIFT
FLAG_FAKE_NAME: int = lib.HELLO_FLAG_FAKE_NAME
FLAG_CONTAINED: int = lib.HELLO_FLAG_CONTAINED
FLAG_FAKE_GROUPS: int = lib.HELLO_FLAG_FAKE_GROUPS
FLAG_TRACE: int = lib.HELLO_FLAG_TRACE
FLAG_TRACE_STABLE: int = lib.HELLO_FLAG_TRACE_STABLE
FLAG_CALIBRATES: int = lib.HELLO_FLAG_CALIBRATES
FLAG_CHARGED: int = lib.HELLO_FLAG_CHARGED
FLAG_REBOOTED: int = lib.HELLO_FLAG_REBOOTED
FLAG_STORAGES: int = lib.HELLO_FLAG_STORAGES
FLAG_POWER: int = lib.HELLO_FLAG_POWER
FLAG_LATE: int = lib.HELLO_FLAG_LATE
FLAG_MODELLED: int = lib.HELLO_FLAG_MODELLED
COST_ROW_SHIFT: int = lib.HELLO_COST_ROW_SHIFT
FLAG_COUNT_TRAPS: int = lib.HELLO_FLAG_COUNT_TRAPS

PAGE_FIELDS: dict[str, int] = {
    name: field.offset // 8 for name, field in ffi.typeof("struct simunix_clock_page").fields if field.type.kind == "primitive"
}
"""The index of each 64-bit field of the clock page, by name, when the page is seen as an array of 64-bit words."""
DEVICE_WORDS: Final[int] = lib.SIMUNIX_DEVICE_WORDS
DEVICE_INODES: Final[int] = ffi.offsetof("struct simunix_clock_page", "device_inodes") // 8
"""The offset in the clock page of the field that has a bit for the inode number of each file which stands for a device."""

DATAGRAM_HEADER_BYTES: int = ffi.sizeof("struct simunix_datagram")
NEVER: Final = -1
QUANTUM_NS: Final[int] = lib.SIMUNIX_QUANTUM_NS
"""The virtual time (ns) that the calls of one turn may cost in total while other actors are ready, or may have become ready.

Without this limit, a loop of system calls would keep all other actors from running.
"""
LOCK_WAITS: int = lib.SIMUNIX_LOCK_WAITS


def syscall_name(number: int) -> str:
    """Return the name of an x86-64 system call; "unknown" for a number without a row in csrc/tables/syscalls.def."""
    name: bytes = ffi.string(lib.syscall_name(number))
    return name.decode()

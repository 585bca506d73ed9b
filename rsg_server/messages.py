"""The messages between shim and server. Generated from csrc/tables/messages.def by docs/generate.py."""

from enum import IntEnum, unique
from typing import Final


@unique
class Op(IntEnum):
    """What a message asks for."""

    HELLO = 1
    FORK = 2
    FORK_DONE = 3
    EXEC = 4
    THREAD_EXIT = 6
    EXIT = 7
    STOPPING = 10
    BORN = 13
    CHILD_TIME = 56
    NETWORK = 100
    PARK = 16
    WAKE = 17
    REQUEUE = 18
    WAITERS = 22
    PASS_LOCK = 20
    FUTEX_WORDS = 21
    EPOLL = 19
    LOOK = 65
    SIGNAL = 24
    KERNEL_SIGNALS = 31
    GROUP_ORPHANED = 59
    QUEUE_NOTIFY = 36
    QUEUE_SENT = 37
    TYPED = 38
    TIMER_SET = 25
    TIMER_GET = 26
    TIMER_DELETE = 27
    TIMERFD = 28
    TIMERFD_SET = 29
    TIMERFD_GET = 30
    CPU_TIMER_SET = 60
    CPU_LIMIT = 61
    HOST = 12
    HOST_CPU = 62
    AFFINITY = 15
    MEMORY_POLICY = 5
    NOFILE = 8
    RAISE_LIMIT = 120
    FILTERS = 66
    COST_ROW = 57
    BUS = 110
    MACHINES = 68
    WARN = 9
    TRACE = 11
    TRACE_TEXT = 14
    INJECT = 32
    PTRACE = 33
    TRACEE_STOPS = 34
    TRACEE_LOOK = 35
    TRACEE_WAIT = 39
    SOCKET = 40
    BIND = 41
    LISTEN = 42
    CONNECT = 43
    CONNECTED = 50
    ACCEPT = 44
    SOCKNAME = 45
    PEERNAME = 46
    SHUTDOWN = 47
    SOCKET_GET = 48
    SOCKET_SET = 49
    MAY_SEND = 53
    LATE = 63
    MORE = 64
    NETLINK = 51
    INTERFACE = 52
    SOCKETS = 54
    STORAGE = 58
    STORAGE_COUNTS = 71
    POWER_FILE = 69
    CGROUP_READ = 80
    CGROUP_WRITE = 81
    CGROUP_APPEAR = 88
    CGROUP_MADE = 82
    CGROUP_REMOVE = 83
    CGROUP_OF = 84
    CGROUP_INTO = 85
    CGROUP_GREW = 86
    CGROUP_NEWS = 87
    DEVICE = 90
    DEVICE_PROGRAM = 91
    RSG = 70


SHAPES: Final[dict[int, str]] = {
    Op.HELLO: "iiis",
    Op.FORK: "i",
    Op.FORK_DONE: "ii",
    Op.EXEC: "",
    Op.THREAD_EXIT: "ii",
    Op.EXIT: "i",
    Op.STOPPING: "ii",
    Op.BORN: "i",
    Op.CHILD_TIME: "i",
    Op.NETWORK: "ii",
    Op.PARK: "iiiiiii",
    Op.WAKE: "iiii",
    Op.REQUEUE: "iiiiii",
    Op.WAITERS: "iii",
    Op.PASS_LOCK: "ii",
    Op.FUTEX_WORDS: "b",
    Op.EPOLL: "",
    Op.LOOK: "",
    Op.SIGNAL: "iii",
    Op.KERNEL_SIGNALS: "i",
    Op.GROUP_ORPHANED: "",
    Op.QUEUE_NOTIFY: "ii",
    Op.QUEUE_SENT: "i",
    Op.TYPED: "ib",
    Op.TIMER_SET: "iiiiii",
    Op.TIMER_GET: "i",
    Op.TIMER_DELETE: "i",
    Op.TIMERFD: "i",
    Op.TIMERFD_SET: "iiii",
    Op.TIMERFD_GET: "i",
    Op.CPU_TIMER_SET: "iiiiiiii",
    Op.CPU_LIMIT: "iiii",
    Op.HOST: "",
    Op.HOST_CPU: "i",
    Op.AFFINITY: "ib",
    Op.MEMORY_POLICY: "iiii",
    Op.NOFILE: "iii",
    Op.RAISE_LIMIT: "iiii",
    Op.FILTERS: "ii",
    Op.COST_ROW: "b",
    Op.BUS: "",
    Op.MACHINES: "b",
    Op.WARN: "is",
    Op.TRACE: "",
    Op.TRACE_TEXT: "b",
    Op.INJECT: "ii",
    Op.PTRACE: "iii",
    Op.TRACEE_STOPS: "iiii",
    Op.TRACEE_LOOK: "",
    Op.TRACEE_WAIT: "ii",
    Op.SOCKET: "iii",
    Op.BIND: "iibii",
    Op.LISTEN: "ii",
    Op.CONNECT: "iibii",
    Op.CONNECTED: "i",
    Op.ACCEPT: "i",
    Op.SOCKNAME: "i",
    Op.PEERNAME: "i",
    Op.SHUTDOWN: "ii",
    Op.SOCKET_GET: "iii",
    Op.SOCKET_SET: "iiib",
    Op.MAY_SEND: "iib",
    Op.LATE: "iii",
    Op.MORE: "ii",
    Op.NETLINK: "i",
    Op.INTERFACE: "ib",
    Op.SOCKETS: "bi",
    Op.STORAGE: "iiiiii",
    Op.STORAGE_COUNTS: "i",
    Op.POWER_FILE: "biib",
    Op.CGROUP_READ: "ii",
    Op.CGROUP_WRITE: "ibi",
    Op.CGROUP_APPEAR: "ib",
    Op.CGROUP_MADE: "iib",
    Op.CGROUP_REMOVE: "i",
    Op.CGROUP_OF: "i",
    Op.CGROUP_INTO: "i",
    Op.CGROUP_GREW: "",
    Op.CGROUP_NEWS: "ii",
    Op.DEVICE: "iiiii",
    Op.DEVICE_PROGRAM: "iiiiib",
    Op.RSG: "iib",
}
"""The fields of each message: `i` an integer, `b` bytes, `s` text."""

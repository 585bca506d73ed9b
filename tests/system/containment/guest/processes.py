"""Ways to processes outside: signals, memory, descriptors, namespaces, scheduling; and what a process may make of itself."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct

from ways import CLONE, LIBC, Outside, call, read, try_all, uncover, way, write

PROC_FOLDERS = ("root", "cwd")


@way
def send_signal(outside: Outside) -> str:
    os.kill(outside.victim, signal.SIGUSR1)
    return "sent"


@way
def signal_of_a_user(outside: Outside) -> str:
    os.setresuid(1234, 1234, 1234)
    os.kill(outside.user_victim, signal.SIGUSR1)
    return "sent"


@way
def signal_to_all(outside: Outside) -> str:
    os.kill(-1, signal.SIGCONT)
    return ""  # reaches what is inside: the test looks whether the victims have got it


@way
def signal_by_pidfd(outside: Outside) -> str:
    call(424, call(434, outside.victim, 0), int(signal.SIGUSR1), None, 0)
    return "sent"


@way
def attach(outside: Outside) -> str:
    call(101, 0x4206, outside.victim, 0, 0)
    return "seized"


@way
def attach_as_user(outside: Outside) -> str:
    os.setresuid(1234, 1234, 1234)
    call(101, 0x4206, outside.user_victim, 0, 0)
    return "seized"


def _vector() -> tuple[ctypes.Array[ctypes.c_char], bytes]:
    buffer = ctypes.create_string_buffer(16)
    return buffer, struct.pack("QQ", ctypes.addressof(buffer), 16)


@way
def read_memory(outside: Outside) -> str:
    _, vector = _vector()
    return f"{call(310, outside.victim, vector, 1, struct.pack('QQ', _stack_of(outside.victim), 16), 1, 0)} bytes"


@way
def write_memory(outside: Outside) -> str:
    _, vector = _vector()
    call(310, outside.victim, vector, 1, struct.pack("QQ", _stack_of(outside.victim), 16), 1, 0)
    return f"{call(311, outside.victim, vector, 1, struct.pack('QQ', _stack_of(outside.victim), 16), 1, 0)} bytes"


def _stack_of(process: int) -> int:
    """Where a process has its stack; a guess if that is not said."""
    try:
        line = next(line for line in read_all(f"/proc/{process}/maps").splitlines() if "[stack]" in line)
    except (OSError, StopIteration):
        return 0x7FFFFFFDE000
    return int(line.split("-")[1].split()[0], 16) - 4096


def read_all(path: str) -> str:
    with open(path) as file:
        return file.read()


@way
def memory_by_proc(outside: Outside) -> str:
    address = _stack_of(outside.victim)
    uncover("/proc")
    fd = os.open(f"/proc/{outside.victim}/mem", os.O_RDWR)
    return f"{len(os.pread(fd, 16, address))} bytes"


@way
def memory_of_a_user_by_proc(outside: Outside) -> str:
    uncover("/proc")
    os.setresgid(1234, 1234, 1234)
    os.setresuid(1234, 1234, 1234)
    os.close(os.open(f"/proc/{outside.user_victim}/mem", os.O_RDWR))
    return "opened the memory of a user's process"


@way
def descriptor_by_pidfd(outside: Outside) -> str:
    return f"descriptor {call(438, call(434, outside.victim, 0), 0, 0)}"


@way
def folders_by_proc(outside: Outside) -> str:
    uncover("/proc")
    return try_all([lambda name=name: read(f"/proc/{outside.victim}/{name}/{outside.secret}") for name in PROC_FOLDERS])


@way
def root_of_the_first_process(outside: Outside) -> str:
    try:
        return read(f"/proc/1/root{outside.secret}")
    except OSError:
        uncover("/proc")
        return read(f"/proc/1/root{outside.secret}")


@way
def killing_order_of_others(outside: Outside) -> str:
    uncover("/proc")
    return write(f"/proc/{outside.victim}/oom_score_adj", "77")


@way
def nice_value_of_others(outside: Outside) -> str:
    os.setpriority(os.PRIO_PROCESS, outside.victim, 7)
    return "changed"


@way
def nice_values_of_a_user(outside: Outside) -> str:
    os.setpriority(os.PRIO_USER, 1234, 9)
    return "changed"


@way
def processors_of_others(outside: Outside) -> str:
    os.sched_setaffinity(outside.victim, {0})
    return "changed"


@way
def limits_of_others(outside: Outside) -> str:
    resource.prlimit(outside.victim, resource.RLIMIT_CORE, (0, 0))
    return "changed"


@way
def disk_priority_of_others(outside: Outside) -> str:
    call(251, 1, outside.victim, 3 << 13)
    return "changed"


@way
def comparison_with_others(outside: Outside) -> str:
    return f"order {call(312, os.getpid(), outside.victim, 1, 0, 0)}"


@way
def namespaces_of_others(outside: Outside) -> str:
    uncover("/proc")
    return try_all([lambda kind=kind: _enter(f"/proc/{outside.victim}/ns/{kind}") for kind in CLONE])


def _enter(path: str) -> str:
    fd = os.open(path, os.O_RDONLY)
    if os.readlink(path) == os.readlink(path.replace(path.split("/")[2], "self")):
        return ""
    call(308, fd, 0)
    return f"entered {path}"


@way
def namespaces_by_pidfd(outside: Outside) -> str:
    call(308, call(434, outside.victim, 0), CLONE["mnt"] | CLONE["uts"])
    return read(outside.secret)


@way
def namespaces_by_nsfs(outside: Outside) -> str:
    fd = os.open("/proc/self/ns/pid", os.O_RDONLY)
    parent = LIBC.ioctl(fd, 0xB702)
    if parent < 0:
        raise OSError(ctypes.get_errno(), "NS_GET_PARENT")
    return "the PID namespace above"


@way
def user_namespace_above(outside: Outside) -> str:
    fd = os.open("/proc/self/ns/user", os.O_RDONLY)
    parent = LIBC.ioctl(fd, 0xB702)
    if parent < 0:
        raise OSError(ctypes.get_errno(), "NS_GET_PARENT")
    call(308, parent, CLONE["user"])
    return "entered the user namespace above"


@way
def descriptors_of_simunix(outside: Outside) -> str:
    found = [os.path.join("/proc", name, "fd") for name in os.listdir("/proc") if name.isdigit()]
    paths = [os.path.join(folder, fd) for folder in found for fd in _listed(folder)]
    return try_all([lambda path=path: _through(path, outside.secret) for path in paths if os.path.isdir(path)])


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _through(path: str, secret: str) -> str:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    fd = os.open("/".join([".."] * 32) + secret, os.O_RDONLY, dir_fd=folder)
    return os.read(fd, 100).decode()


@way
def real_time_priority(outside: Outside) -> str:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return "a real-time priority"


@way
def real_time_priority_by_limit(outside: Outside) -> str:
    call(160, int(resource.RLIMIT_RTPRIO), struct.pack("QQ", 50, 50))
    return real_time_priority(outside)


@way
def deadline_scheduling(outside: Outside) -> str:
    call(314, 0, struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 1_000_000, 10_000_000, 10_000_000), 0)
    call(314, 0, struct.pack("IIQiIQQQ", 48, 0, 0, 0, 0, 0, 0, 0), 0)
    return "a deadline"


@way
def never_be_killed_for_memory(outside: Outside) -> str:
    return write("/proc/self/oom_score_adj", "-1000")


@way
def real_time_disk_priority(outside: Outside) -> str:
    call(251, 1, 0, 1 << 13)
    return "first at the disk"


@way
def more_processes_in_the_victims_group(outside: Outside) -> str:
    os.setpgid(0, os.getpgid(outside.victim))
    return "joined"

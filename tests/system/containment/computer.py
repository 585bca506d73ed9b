"""The computer outside of the hosts, prepared for the test: what ways could reach, and what of it they may have changed."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pty
import secrets
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
USER = 1234
NAME = "simunix-contained"
SETTINGS = {
    "core_pattern": Path("/proc/sys/kernel/core_pattern"),
    "domain name": Path("/proc/sys/kernel/domainname"),
    "level of the log": Path("/proc/sys/kernel/printk"),
    "merging": Path("/sys/kernel/mm/ksm/pages_to_scan"),
    "swappiness": Path("/proc/sys/vm/swappiness"),
    "time to live": Path("/proc/sys/net/ipv4/ip_default_ttl"),
    "user namespaces": Path("/proc/sys/user/max_user_namespaces"),
}
"""What ways try to set."""
VICTIM = """
import os, signal, sys, time
for number in (signal.SIGUSR1, signal.SIGCONT):
    signal.signal(number, lambda which, frame: os.write(2, b"%d" % which))
if sys.argv[1] != "0":
    os.setresgid(int(sys.argv[1]), int(sys.argv[1]), int(sys.argv[1]))
    os.setresuid(int(sys.argv[1]), int(sys.argv[1]), int(sys.argv[1]))
print("ready", flush=True)
while True:
    time.sleep(1)
"""


@dataclass
class Victim:
    """A process outside that ways may try to reach, and what signals it has got."""

    process: subprocess.Popen[bytes]
    signals: Path

    @classmethod
    def start(cls, user: int, folder: Path) -> Victim:
        signals = folder / f"victim-{user}"
        with signals.open("wb") as file:
            command = [sys.executable, "-c", VICTIM, str(user)]
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=file, env={"SECRET": NAME}, start_new_session=True
            )
        assert process.stdout is not None
        with process.stdout as said:
            assert said.readline() == b"ready\n"
        return cls(process, signals)

    def look(self) -> dict[str, object]:
        """What others could change of it."""
        pid = self.process.pid
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        state = [line for line in status if line.startswith(("TracerPid", "Cpus_allowed_list", "Uid"))]
        return {
            "status": state,
            "signals": self.signals.read_bytes(),
            "alive": self.process.poll() is None,
            "nice": os.getpriority(os.PRIO_PROCESS, pid),
            "oom_score_adj": Path(f"/proc/{pid}/oom_score_adj").read_text(),
            "disk": LIBC.syscall(252, 1, pid),
            "core": [line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if "core file" in line],
            "cgroup": Path(f"/proc/{pid}/cgroup").read_text(),
        }


@dataclass
class Computer:
    """What has been prepared, as a JSON object for the guest (`told`), and all that is looked at."""

    folder: Path
    secret: Path
    victims: list[Victim] = field(default_factory=list)
    terminal: tuple[int, int] = (-1, -1)
    listeners: list[socket.socket] = field(default_factory=list)
    events: socket.socket | None = None
    abstract: str = ""
    key: int = 0
    segment: int = 0
    segment_key: int = 0
    secret_text: str = ""

    def told(self, is_host: bool = True, left_out: Iterable[str] = ()) -> str:
        """What ways are told of the outside."""
        status = os.stat("/")
        return json.dumps(
            {
                "folder": str(self.folder),
                "secret": str(self.secret),
                "secret_handle": handle_of(self.secret),
                "victim": self.victims[0].process.pid,
                "user_victim": self.victims[1].process.pid,
                "terminal": os.ttyname(self.terminal[1]).rpartition("/")[2],
                "abstract": self.abstract,
                "key": self.key,
                "segment": self.segment_key,
                "disk": f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}",
                "is_host": is_host,
                "left_out": list(left_out),
            }
        )

    def look(self) -> dict[str, object]:
        """All that ways could have changed."""
        victims = {f"victim {number}": victim.look() for number, victim in enumerate(self.victims)}
        settings = {name: text_of(path) for name, path in SETTINGS.items()}
        return {name: look(self) for name, look in LOOKS.items()} | settings | victims


def handle_of(path: Path) -> str:
    """The file handle of a path, as `Outside.secret_handle` has it; name_to_handle_at(2)."""
    buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    number = ctypes.c_int()
    if LIBC.syscall(303, -100, str(path).encode(), buffer, ctypes.byref(number), 0) != 0:
        return "1:" + bytes(8).hex()
    size, kind = struct.unpack_from("Ii", buffer.raw)
    return f"{kind}:{buffer.raw[8 : 8 + size].hex()}"


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        return error.strerror


def mounts_of_the_computer(computer: Computer) -> list[str]:
    return sorted(line.split(" ", 2)[2] for line in Path("/proc/self/mountinfo").read_text().splitlines())


def typed(computer: Computer) -> bytes:
    master = computer.terminal[0]
    return os.read(master, 4096) if select.select([master], [], [], 0.05)[0] else b""


def events(computer: Computer) -> bytes:
    if computer.events is not None and select.select([computer.events], [], [], 0.05)[0]:
        return computer.events.recv(4096)
    return b""


def connections(computer: Computer) -> list[int]:
    return select.select(computer.listeners, [], [], 0)[0]


def interpreters(computer: Computer) -> list[str]:
    with at_a_folder("binfmt_misc") as folder:
        return sorted(os.listdir(folder)) if folder else []


def groups(computer: Computer) -> list[str]:
    found = []
    for kind, options in (("cgroup2", ""), ("cgroup", "freezer")):
        with at_a_folder(kind, options) as folder:
            found += [path for path in [os.path.join(folder, NAME)] if folder and os.path.isdir(path)]
    return found


@contextlib.contextmanager
def at_a_folder(kind: str, options: str = "") -> Iterator[str]:
    """A file system of the kernel, mounted for a moment; "" where that cannot be."""
    folder = Path(f"/mnt/{NAME}-{kind}-{os.getpid()}")
    folder.mkdir(exist_ok=True)
    if LIBC.mount(b"none", str(folder).encode(), kind.encode(), 0, options.encode()) != 0:
        folder.rmdir()
        yield ""
        return
    try:
        yield str(folder)
    finally:
        LIBC.umount2(str(folder).encode(), 2)
        folder.rmdir()


def keys(computer: Computer) -> bool:
    return int(LIBC.syscall(250, 10, -4, b"user", f"{NAME}-new".encode(), 0)) >= 0


LOOKS: dict[str, Callable[[Computer], object]] = {
    "mounts": mounts_of_the_computer,
    "flags of the folder": lambda computer: os.statvfs(computer.folder).f_flag,
    "size of the folder": lambda computer: os.statvfs(computer.folder).f_blocks,
    "files of the folder": lambda computer: sorted(os.listdir(computer.folder)),
    "secret": lambda computer: computer.secret.read_text(),
    "host name": lambda computer: list(os.uname())[:3],
    "interfaces": lambda computer: sorted(name for _, name in socket.if_nameindex()),
    "devices": lambda computer: Path(f"/dev/{NAME}").exists(),
    "interpreters": interpreters,
    "groups": groups,
    "terminal": typed,
    "events": events,
    "connections": connections,
    "keys": keys,
}


def restore(before: dict[str, object]) -> None:
    """Put back what ways have changed natively."""
    for name, path in SETTINGS.items():
        if text_of(path) != before[name]:
            path.write_text(str(before[name]))
    with contextlib.suppress(OSError):
        os.rmdir(f"/dev/{NAME}")
    for kind, options in (("cgroup2", ""), ("cgroup", "freezer")):
        with at_a_folder(kind, options) as folder, contextlib.suppress(OSError):
            os.rmdir(os.path.join(folder, NAME))
    with at_a_folder("binfmt_misc") as folder, contextlib.suppress(OSError):
        Path(folder, NAME).write_text("-1")


@contextlib.contextmanager
def prepared(folder: Path) -> Iterator[Computer]:
    """A computer with something to reach; all of it is gone afterwards."""
    mark = secrets.token_hex(4)
    computer = Computer(Path(f"/mnt/{NAME}-{mark}"), Path(f"/run/{NAME}-{mark}"), abstract=f"{NAME}-{mark}")
    with contextlib.ExitStack() as stack:
        _prepare_files(computer, stack)
        for user in (0, USER):
            victim = Victim.start(user, folder)
            stack.callback(victim.process.wait)
            stack.callback(victim.process.kill)
            computer.victims.append(victim)
        computer.terminal = pty.openpty()
        for fd in computer.terminal:
            stack.callback(os.close, fd)
        os.fchmod(computer.terminal[1], 0o620)
        os.fchown(computer.terminal[1], 0, 5)
        _prepare_sockets(computer, stack)
        _prepare_ipc(computer, stack)
        yield computer


def _prepare_files(computer: Computer, stack: contextlib.ExitStack) -> None:
    target = computer.folder
    target.mkdir()
    stack.callback(target.rmdir)
    assert LIBC.mount(b"none", str(target).encode(), b"tmpfs", 0, b"size=8m,mode=755") == 0
    stack.callback(LIBC.umount2, str(target).encode(), 2)
    (target / "below").mkdir()
    (target / "file").write_text("outside")
    os.mknod(target / "node", 0o60666, os.stat("/").st_dev)
    (target / "node").chmod(0o666)
    for path in (computer.secret, Path("/dev/shm", computer.secret.name)):
        path.write_text("secret")
        path.chmod(0o600)
        stack.callback(path.unlink)


def _prepare_sockets(computer: Computer, stack: contextlib.ExitStack) -> None:
    path = f"{computer.secret}-socket"
    for name in ("\0" + computer.abstract, path):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(name)
        listener.listen()
        computer.listeners.append(listener)
        stack.callback(listener.close)
    os.chmod(path, 0o600)
    stack.callback(os.unlink, path)
    computer.events = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)
    computer.events.bind((0, 2))
    stack.callback(computer.events.close)


def _prepare_ipc(computer: Computer, stack: contextlib.ExitStack) -> None:
    computer.key = int(LIBC.syscall(248, b"user", NAME.encode(), b"secret", 6, -4))
    stack.callback(LIBC.syscall, 250, 9, computer.key, -4)
    computer.segment_key = 0x51C0DE00 + os.getpid() % 256
    computer.segment = int(LIBC.syscall(29, computer.segment_key, 4096, 0o1600))
    stack.callback(LIBC.syscall, 31, computer.segment, 0, None)

"""Ways by sockets: names outside, the kernel's own sockets (netlink), interfaces."""

from __future__ import annotations

import os
import socket
import struct

from ways import CLONE, Outside, call, read, try_all, uncover, way

NETLINK_ROUTE, NETLINK_AUDIT, NETLINK_CONNECTOR, NETLINK_UEVENT = 0, 9, 11, 15


@way
def abstract_name(outside: Outside) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.settimeout(2)
        end.connect("\0" + outside.abstract)
    return "connected"


@way
def abstract_names_of_simunix(outside: Outside) -> str:
    uncover("/proc")
    names = [line.split()[-1] for line in open("/proc/1/net/unix") if "@" in line]  # noqa: SIM115
    return try_all([lambda name=name: _connect("\0" + name[1:]) for name in names[:50]])


def _connect(name: str) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end:
        end.connect(name)
    return f"connected to {name!r}"


@way
def socket_in_run(outside: Outside) -> str:
    uncover("/run")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.settimeout(2)
        end.connect(f"{outside.secret}-socket")
    return "connected"


def _netlink(family: int, message: bytes, groups: int = 0, address: tuple[int, int] = (0, 0)) -> bytes:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as end:
        end.settimeout(2)
        end.bind((0, groups))
        end.sendto(message, address)
        return end.recv(4096)


def _error_of(answer: bytes) -> None:
    kind = struct.unpack_from("H", answer, 4)[0]
    code = struct.unpack_from("i", answer, 16)[0] if kind == 2 else 0
    if code < 0:
        raise OSError(-code, os.strerror(-code))


@way
def interface(outside: Outside) -> str:
    name = b"simunixd0\0\0\0"
    body = struct.pack("BBHiII", 0, 0, 0, 0, 0, 0) + struct.pack("HH", 14, 3) + name[:10] + b"\0\0"
    information = struct.pack("HH", 9, 1) + b"dummy" + b"\0\0\0"
    body += struct.pack("HH", 4 + len(information), 18) + information
    _error_of(_netlink(NETLINK_ROUTE, struct.pack("IHHII", 16 + len(body), 16, 0x605, 1, 0) + body))
    return ""  # its own: the test looks for the computer's


@way
def audit(outside: Outside) -> str:
    status = bytes(64)
    _error_of(_netlink(NETLINK_AUDIT, struct.pack("IHHII", 16 + len(status), 1001, 5, 1, 0) + status))
    return "set the state of the audit"


@way
def events_of_devices(outside: Outside) -> str:
    text = b"libudev\0" + b"simunix-contained\0ACTION=add\0"
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_UEVENT) as end:
        end.sendto(text, (0, 2))
    return ""  # in its own network: the test has a listener outside


@way
def births_of_processes(outside: Outside) -> str:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR) as end:
        end.bind((0, 1))
        operation = struct.pack("IIIIHHI", 1, 1, 0, 0, 4, 0, 1)
        end.send(struct.pack("IHHII", 16 + len(operation), 3, 0, 0, 0) + operation)
        end.settimeout(1)
        end.recv(4096)
    return "is told of processes"


@way
def raw_packets(outside: Outside) -> str:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as end:
        names = [name for _, name in socket.if_nameindex() if name != "lo" and not name.startswith("simunixd")]
        if not names:
            return ""
        end.bind((names[0], 0))
        if os.path.isdir(f"/sys/class/net/{names[0]}/device"):
            return f"listens on {names[0]}"
    return ""


@way
def network_of_the_first_process(outside: Outside) -> str:
    uncover("/proc")
    call(308, os.open("/proc/1/ns/net", os.O_RDONLY), CLONE["net"])
    return read("/proc/self/net/dev")


@way
def settings_of_the_computers_network(outside: Outside) -> str:
    path = "/proc/sys/net/ipv4/ip_default_ttl"
    uncover("/proc/sys")
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, b"77")
    return ""  # its own: the test looks for the computer's

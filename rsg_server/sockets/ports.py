"""Addresses and ports: what they mean, and who may have which beside whom."""

from __future__ import annotations

from rsg_server.sockets.pair import SimulatedSocket, SocketState

LOOPBACK = {4: b"\x7f\x00\x00\x01", 6: b"\x00" * 15 + b"\x01"}
ANY = {4: b"\x00" * 4, 6: b"\x00" * 16}
MAPPED = b"\x00" * 10 + b"\xff\xff"
SOL_SOCKET, SO_REUSEADDR, SO_REUSEPORT = 1, 2, 15
SOL_IPV6, IPV6_V6ONLY = 41, 26


def is_loopback(ip: bytes) -> bool:
    """127/8 or ::1."""
    return ip[:1] == b"\x7f" if len(ip) == 4 else ip == LOOPBACK[6]


def plain(ip: bytes) -> bytes:
    """An IPv4-mapped IPv6 address as the IPv4 address that it means."""
    return ip[12:] if len(ip) == 16 and ip.startswith(MAPPED) else ip


def local_ip(which: SimulatedSocket) -> bytes:
    """The address of a socket that has one."""
    assert which.local is not None
    return plain(which.local.ip)


def flag(which: SimulatedSocket, option: int, level: int = SOL_SOCKET) -> bool:
    """Whether an option that is off by itself has been switched on."""
    return any(which.options.get((level, option), b""))


def conflict(new: SimulatedSocket, ip: bytes, old: SimulatedSocket) -> bool:
    """Whether a socket cannot have an address at the port of another one (SO_REUSEADDR and SO_REUSEPORT: socket(7))."""
    if old.local is None or not _overlap(new, ip, old, local_ip(old)):
        return False
    if flag(new, SO_REUSEPORT) and flag(old, SO_REUSEPORT):
        return False
    reuse = flag(new, SO_REUSEADDR) and flag(old, SO_REUSEADDR)
    return not (reuse and (new.kind == "d" or old.state is not SocketState.LISTENING))


def _overlap(new: SimulatedSocket, ip: bytes, old: SimulatedSocket, other: bytes) -> bool:
    """Whether something could be sent to both. Of the IPv6 addresses only "any" may stand for IPv4 ones too."""
    if len(ip) == len(other):
        return ip == other or ip in ANY.values() or other in ANY.values()
    which, address = (new, ip) if len(ip) == 16 else (old, other)
    return address == ANY[6] and not flag(which, IPV6_V6ONLY, SOL_IPV6)


def hears(which: SimulatedSocket, ip: bytes) -> bool:
    """Whether a socket that is bound to the right port gets what is sent to an address."""
    local = local_ip(which)
    if local != ip and local not in ANY.values():
        return False
    if local == ANY[4] and len(ip) == 16:
        return False
    return not (len(ip) == 4 and len(local) == 16 and flag(which, IPV6_V6ONLY, SOL_IPV6))


def is_in_time_wait(new: SimulatedSocket, port: int, now_ns: int) -> bool:
    """Whether a connection that was closed from here may still be heard of at the port (RFC 9293, 3.4.2)."""
    if new.kind != "s" or port not in new.host.time_wait:
        return False
    until_ns, reusable = new.host.time_wait[port]
    return until_ns > now_ns and not (reusable and flag(new, SO_REUSEADDR))

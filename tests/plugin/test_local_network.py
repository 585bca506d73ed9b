"""The local network of an emulation: every host's own interfaces, broadcast and multicast between hosts."""

import random
import socket
import struct
from pathlib import Path

import pytest

from simunix.testing import Cluster
from tests.needs import needs

PORT = 7100
GROUP = "239.7.7.7"
NODES = "n[1-3]"


def tell_interfaces() -> None:
    listed = socket.if_nameindex()
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.connect(("10.0.1.1", 9))
    print(listed, probe.getsockname()[0], Path("/sys/class/net/eth0/address").read_text().strip())


def hear(kind: str) -> None:
    ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ears.bind(("", PORT))
    ears.settimeout(60)
    if kind == "group":
        ears.setsockopt(0, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + bytes(4))
    try:
        data, source = ears.recvfrom(100)
        print(data.decode(), source[0])
    except TimeoutError:
        print("nothing")


def call(target: str, option: int = 0, value: int = 0) -> None:
    voice = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    voice.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    if option:
        voice.setsockopt(0, option, value)
    voice.sendto(b"hello", (target, PORT))


def test_every_host_has_its_own_eth0_in_one_network(emulation: Cluster) -> None:
    first = emulation.host("a")
    second = emulation.host("b", address="10.0.1.1")
    programs = [host.start(emulation.python(tell_interfaces)) for host in (first, second)]
    emulation.run(check=True)
    assert [program.stdout for program in programs] == [
        "[(1, 'lo'), (2, 'eth0')] 10.0.0.1 02:42:0a:00:00:01\n",
        "[(1, 'lo'), (2, 'eth0')] 10.0.1.1 02:42:0a:00:01:01\n",
    ]


@needs("ip")
def test_ip_shows_the_network_that_holds_all_hosts(emulation: Cluster) -> None:
    asking = emulation.host("a")
    emulation.host("b", address="10.0.1.1")
    program = asking.start("ip -o -4 addr show eth0 | tr -s ' '; ip route; ip link set eth0 down; echo $?")
    emulation.run(check=True)
    assert "2: eth0 inet 10.0.0.1/23 brd 10.0.1.255 scope global eth0" in program.stdout
    assert program.stdout.endswith("10.0.0.0/23 dev eth0 proto kernel scope link src 10.0.0.1 \n2\n")


@pytest.mark.parametrize("target", ["10.0.0.255", "255.255.255.255"])
def test_broadcast_reaches_every_host(emulation: Cluster, target: str) -> None:
    hosts = emulation.hosts(NODES)
    ears = [host.start(emulation.python(hear, "broadcast")) for host in hosts]
    hosts[0].start(emulation.python(call, target), at=1)
    emulation.run(check=True)
    assert [program.stdout for program in ears] == ["hello 10.0.0.1\n"] * 3


@pytest.mark.parametrize(
    ("option", "own", "others"),
    [
        (0, "hello 10.0.0.1", "hello 10.0.0.1"),
        (socket.IP_MULTICAST_LOOP, "nothing", "hello 10.0.0.1"),
        (socket.IP_MULTICAST_TTL, "hello 10.0.0.1", "nothing"),
    ],
    ids=["plain", "no own copy", "not beyond the host"],
)
def test_multicast_reaches_members_only(emulation: Cluster, option: int, own: str, others: str) -> None:
    sender, member, stranger = emulation.hosts(NODES)
    ears = [host.start(emulation.python(hear, "group")) for host in (sender, member)]
    deaf = stranger.start(emulation.python(hear, "none"))
    sender.start(emulation.python(call, GROUP, option, 0), at=1)
    emulation.run(check=True)
    assert [program.stdout for program in ears] == [own + "\n", others + "\n"]
    assert deaf.stdout == "nothing\n"


def leave() -> None:
    ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ears.bind(("", PORT))
    request = struct.pack("=4s4si", socket.inet_aton(GROUP), bytes(4), 2)
    ears.setsockopt(0, socket.IP_ADD_MEMBERSHIP, request)
    ears.setsockopt(0, socket.IP_DROP_MEMBERSHIP, request)
    ears.settimeout(5)
    with pytest.raises(TimeoutError):
        ears.recv(1)


def test_who_has_left_a_group_hears_nothing(emulation: Cluster) -> None:
    sender, left, _ = emulation.hosts(NODES)
    left.start(emulation.python(leave))
    sender.start(emulation.python(call, GROUP), at=1)
    emulation.run(check=True)


def babble() -> None:
    """Anything at all to the routing socket: the answer may be an error, but there is one server for all."""
    generator = random.Random(1)
    for _ in range(300):
        words = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        body = generator.randbytes(generator.randrange(40))
        kind, flags = generator.randrange(10, 120), generator.choice((1, 5, 0x301, generator.randrange(1 << 16)))
        length = generator.choice((16 + len(body), generator.randrange(64)))
        words.send(struct.pack("=IHHII", length, kind, flags, 7, 0) + body)
        words.close()
    print(socket.if_nameindex())


def test_nonsense_on_a_routing_socket_harms_nobody(emulation: Cluster) -> None:
    program = emulation.host("a").start(emulation.python(babble))
    emulation.run(check=True)
    assert program.stdout == "[(1, 'lo'), (2, 'eth0')]\n"

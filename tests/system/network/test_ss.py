"""ss, which asks by netlink, says what /proc/net says, of internet sockets and of AF_UNIX ones."""

from __future__ import annotations

import re

from simunix.testing import Cluster
from tests.needs import needs

pytestmark = needs("ss")
SERVER = """
import socket, time
listener = socket.create_server(("", 8080), backlog=7)
six = socket.create_server(("::", 81), family=socket.AF_INET6, backlog=9, dualstack_ipv6=True)
only_six = socket.create_server(("::1", 82), family=socket.AF_INET6)
name = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
name.bind(("", 53))
local = socket.socket(socket.AF_UNIX)
local.bind("/tmp/local")
local.listen(3)
client = socket.create_connection(("127.0.0.1", 8080))
served = listener.accept()
waiting = socket.create_connection(("127.0.0.1", 8080))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
time.sleep(10)
"""
FROM_PROC = "PROC_NET_TCP=/proc/net/tcp PROC_NET_TCP6=/proc/net/tcp6 PROC_NET_UDP=/proc/net/udp PROC_NET_UDP6=/proc/net/udp6"
ASKED = {
    "listeners": "ss -Htlnp",
    "from_proc": f"env {FROM_PROC} ss -Htlnp",
    "connections": "ss -Htn",
    "connections_from_proc": f"env {FROM_PROC} ss -Htn",
    "datagrams": "ss -Huan",
    "filtered": "ss -Htln sport = :81",
    "unix": "ss -Hxlp",
    "raw": "ss -Hwan",
    "summary": "ss -s",
    "inside": "ss -Htni",
}


def without_queues(text: str) -> set[tuple[str, ...]]:
    """Lines without what is not in /proc/net: a listener's backlog, and whether an IPv6 socket is for IPv6 alone."""
    return {(words[0], *words[3:]) for words in map(str.split, text.replace("[::]", "*").splitlines())}


def test_ss_says_what_there_is(emulation: Cluster) -> None:
    host = emulation.host("n1")
    host.start(["python3", "-c", SERVER])
    said = {name: host.start(["sh", "-c", command], at="1s") for name, command in ASKED.items()}
    emulation.run(check=True)
    text = {name: process.stdout for name, process in said.items()}
    assert not [process.stderr for process in said.values() if process.stderr]
    assert text["listeners"].count("LISTEN") == 3 and without_queues(text["listeners"]) == without_queues(text["from_proc"])
    assert re.search(r'^LISTEN 1 +7 +0\.0\.0\.0:8080 .*users:\(\("python3",pid=\d+,fd=3\)\)', text["listeners"], re.MULTILINE)
    assert text["connections"].count("ESTAB") == 4
    assert without_queues(text["connections"]) == without_queues(text["connections_from_proc"])
    assert text["datagrams"].split()[3] == "0.0.0.0:53"
    assert [line.split()[:4] for line in text["filtered"].splitlines()] == [["LISTEN", "0", "9", "*:81"]]
    assert re.search(r"u_str LISTEN 0 +3 +/tmp/local .*python3", text["unix"])
    assert re.search(r"0\.0\.0\.0:(1|icmp) ", text["raw"])
    assert re.search(r"^TCP: +7 \(estab 4, closed 0, ", text["summary"], re.MULTILINE), text["summary"]
    assert text["inside"].count("cubic") == 4

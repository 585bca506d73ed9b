"""The holder of a lease is stopped after its look at the clock, and writes when another holds the lease.

The server (without words) gives the lease for two seconds, and keeps a file. Mended: each write has the number of its lease,
and the server refuses those of an older one.
"""

import os
import socket
import sys
import time

LEASE_S, END_S = 2.0, 25.0
MENDED = bool(os.environ.get("MENDED"))


def serve() -> None:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", 7000))
    server.settimeout(1)
    holder, until, lease = "", 0.0, 0
    while time.monotonic() < start + END_S:
        try:
            text, address = server.recvfrom(100)
        except TimeoutError:
            continue
        word, name, number = text.decode().split()
        if word == "take":
            if holder != name and time.monotonic() > until:
                holder, lease = name, lease + 1
            if holder == name:
                until = time.monotonic() + LEASE_S
            server.sendto(f"{holder} {lease}".encode(), address)
        elif int(number) != lease and not MENDED:
            print(f"{name} writes under lease {number}, and {lease} holds", flush=True)


def work(address: str, name: str) -> None:
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect((address, 7000))
    client.settimeout(0.3)
    while time.monotonic() < start + END_S - 2:
        asked = time.monotonic()
        try:
            client.send(f"take {name} 0".encode())
            holder, lease = client.recv(100).decode().split()
        except OSError:
            time.sleep(0.2)
            continue
        if holder == name and time.monotonic() < asked + LEASE_S - 1:
            time.sleep(0.2)  # the new content is computed
            client.send(f"write {name} {lease}".encode())
        time.sleep(0.1)


start = time.monotonic()
if len(sys.argv) > 1:
    work(sys.argv[1], sys.argv[2])
else:
    serve()

"""A lease that ends by the wall clock: when the clock jumps, another holder gets it too early. Mended: by the monotonic clock.

The server (without words) gives the lease for ten seconds; a holder uses it for eight, by its own monotonic clock.
"""

import os
import socket
import sys
import time

LEASE_S, USE_S, ROUNDS = 10, 8, 2
now = time.monotonic if os.environ.get("MENDED") else time.time


def serve() -> None:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", 7000))
    holder, until, ended = "", 0.0, 0
    while ended < 2:
        text, address = server.recvfrom(100)
        word, name = text.decode().split()
        if word == "take" and (holder in ("", name) or now() > until):
            holder, until = name, now() + LEASE_S
        elif word == "use" and holder != name:
            sys.exit(f"{name} uses the lease of {holder}")
        elif word == "give" and holder == name:
            holder = ""
        ended += word == "end"
        server.sendto(holder.encode() or b"-", address)


def ask(client: socket.socket, word: str, name: str) -> str:
    try:
        client.send(f"{word} {name}".encode())
        return client.recv(100).decode()
    except OSError:  # the server has ended
        sys.exit(0)


def use(server: str, name: str) -> None:
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect((server, 7000))
    client.settimeout(5)
    time.sleep(1 if name == "y" else 0.5)
    for _ in range(ROUNDS):
        begin = time.monotonic()
        while ask(client, "take", name) != name:
            time.sleep(1)
            begin = time.monotonic()
        while time.monotonic() < begin + USE_S:
            ask(client, "use", name)
            time.sleep(1)
        ask(client, "give", name)
    ask(client, "end", name)


if len(sys.argv) > 1:
    use(sys.argv[1], sys.argv[2])
else:
    serve()

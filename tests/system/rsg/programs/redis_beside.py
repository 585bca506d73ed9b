"""An actor talks to an unmodified redis-server over TCP while mailboxes carry gigabytes that are only simulated."""

import socket
import subprocess
import sys

from simunix.rsg import Actor, Engine, Host, Mailbox, this_actor

PORT = 6379


def ask(server: socket.socket, *words: str) -> str:
    server.sendall("".join([f"*{len(words)}\r\n", *(f"${len(word)}\r\n{word}\r\n" for word in words)]).encode())
    return server.recv(4096).decode().replace("\r\n", " ").strip()


def client() -> None:
    daemon = subprocess.Popen(["redis-server", "--port", str(PORT), "--save", ""], stdout=subprocess.DEVNULL)
    this_actor.sleep_for(1)
    with socket.create_connection(("127.0.0.1", PORT)) as server:
        for _ in range(3):
            size = len(Mailbox.by_name("box").get())
            print(ask(server, "INCRBY", "bytes", str(size)), f"at {Engine.clock:.3f}")
        print(ask(server, "GET", "bytes"))
    daemon.terminate()
    daemon.wait()


def source() -> None:
    for _ in range(3):
        Mailbox.by_name("box").put(b"x" * 1000, 2_000_000_000)


engine = Engine(sys.argv)
Actor.create("client", Host.by_name("Tremblay"), client)
Actor.create("source", Host.by_name("Jupiter"), source)
engine.run()

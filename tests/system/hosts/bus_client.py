"""A client of D-Bus in few lines, independent of what it tests; as a program it prints what a message bus answers.

It needs nothing but Python, so it runs inside of hosts and outside alike.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import Any

BUS, BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"
SYSTEMD, SYSTEMD_PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
MANAGER, UNIT, SCOPE = f"{SYSTEMD}.Manager", f"{SYSTEMD}.Unit", f"{SYSTEMD}.Scope"
PROPERTIES = f"{BUS}.Properties"
ALIGNMENT = {"y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "x": 8, "t": 8, "d": 8, "(": 8, "{": 8}
NUMBERS = {"y": "B", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "b": "I", "h": "I"}
METHOD_CALL, ERROR, SIGNAL = 1, 3, 4


class BusError(Exception):
    """An error that came as the answer of a call."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name


def first_type(signature: str) -> str:
    """The first complete type of a signature."""
    depth, end = 0, 0
    while True:
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(signature[end], 0)
        end += 1
        if depth == 0 and signature[end - 1] != "a":
            return signature[:end]


def types(signature: str) -> list[str]:
    """All complete types of a signature."""
    found = []
    while signature:
        found.append(first_type(signature))
        signature = signature[len(found[-1]) :]
    return found


def pad(data: bytearray, to: int) -> None:
    data += bytes(-len(data) % to)


def put(data: bytearray, kind: str, value: Any) -> None:
    """Append a value; a variant is given as (type, value)."""
    pad(data, ALIGNMENT.get(kind[0], 4))
    if kind[0] in "so":
        data += struct.pack("<I", len(value.encode())) + value.encode() + b"\0"
    elif kind == "g":
        data += bytes([len(value)]) + value.encode() + b"\0"
    elif kind == "v":
        put(data, "g", value[0])
        put(data, value[0], value[1])
    elif kind[0] == "a":
        at = len(data)
        data += bytes(4)
        pad(data, ALIGNMENT.get(kind[1], 4))
        begin = len(data)
        for each in value:
            put(data, kind[1:], each)
        struct.pack_into("<I", data, at, len(data) - begin)
    elif kind[0] in "({":
        for inner, each in zip(types(kind[1:-1]), value, strict=True):
            put(data, inner, each)
    else:
        data += struct.pack("<" + NUMBERS[kind], value)


class Reader:
    """Reads values from bytes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def get(self, kind: str) -> Any:
        """The next value, of this type."""
        self.at += -self.at % ALIGNMENT.get(kind[0], 4)
        if kind[0] in "sog":
            size = self._number("B" if kind == "g" else "I")
            self.at += size + 1
            return self.data[self.at - size - 1 : self.at - 1].decode()
        if kind == "v":
            return self.get(self.get("g"))
        if kind[0] == "a":
            size = self._number("I")
            self.at += -self.at % ALIGNMENT.get(kind[1], 4)
            end = self.at + size
            found = []
            while self.at < end:
                found.append(self.get(kind[1:]))
            return dict(found) if kind[1] == "{" else found
        if kind[0] in "({":
            return tuple(self.get(inner) for inner in types(kind[1:-1]))
        return self._number(NUMBERS[kind])

    def _number(self, code: str) -> Any:
        size = struct.calcsize(code)
        self.at += size
        return struct.unpack("<" + code, self.data[self.at - size : self.at])[0]


class Client:
    """A connection to a bus; `signals` are those that have come, as (member, arguments)."""

    def __init__(self, path: str = "/run/dbus/system_bus_socket", hello: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(200)
        self.socket.connect(path)
        self.signals: list[tuple[str, tuple[Any, ...]]] = []
        self._serial = 0
        self._rest = b""
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        assert self._line().startswith(b"OK ")
        self.socket.sendall(b"NEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
        assert self._line() == b"AGREE_UNIX_FD"
        self.name = self.bus("Hello") if hello else ""

    def _line(self) -> bytes:
        while b"\r\n" not in self._rest:
            self._rest += self.socket.recv(4096)
        line, _, self._rest = self._rest.partition(b"\r\n")
        return line

    def bus(self, member: str, signature: str = "", *values: Any) -> Any:
        """Call the bus itself."""
        return self.call(BUS, BUS_PATH, BUS, member, signature, *values)

    def manager(self, member: str, signature: str = "", *values: Any) -> Any:
        """Call systemd's manager."""
        return self.call(SYSTEMD, SYSTEMD_PATH, MANAGER, member, signature, *values)

    def property(self, path: str, interface: str, name: str) -> Any:
        """A property of one of systemd's objects."""
        return self.call(SYSTEMD, path, PROPERTIES, "Get", "ss", interface, name)

    def scope(self, name: str, pids: list[int], *properties: tuple[str, tuple[str, Any]]) -> Any:
        """Have systemd start a scope for processes."""
        given = [("PIDs", ("au", pids)), *properties]
        return self.manager("StartTransientUnit", "ssa(sv)a(sa(sv))", name, "fail", given, [])

    def call(self, destination: str, path: str, interface: str, member: str, signature: str = "", *values: Any) -> Any:
        """Call a method, and wait for the answer: None, a value, or a tuple of them. Raises BusError."""
        self._serial += 1
        body = bytearray()
        for kind, value in zip(types(signature), values, strict=True):
            put(body, kind, value)
        fields: list[tuple[int, tuple[str, str]]] = [(1, ("o", path)), (2, ("s", interface)), (3, ("s", member))]
        fields += [(6, ("s", destination)), (8, ("g", signature))]
        head = bytearray(struct.pack("<cBBBII", b"l", METHOD_CALL, 0, 1, len(body), self._serial))
        put(head, "a(yv)", fields)
        pad(head, 8)
        self.socket.sendall(head + body)
        while True:
            kind, reply_to, name, found = self.receive()
            if kind == SIGNAL:
                self.signals.append((name, found))
            elif reply_to == self._serial and kind == ERROR:
                raise BusError(name, found[0] if found else "")
            elif reply_to == self._serial:
                return found[0] if len(found) == 1 else found or None

    def receive(self) -> tuple[int, int, str, tuple[Any, ...]]:
        """The next message: its type, what it answers, the name of a signal or an error, the arguments."""
        fixed = self._take(16)
        kind, size, room = fixed[1], *struct.unpack("<I4xI", fixed[4:])
        reader = Reader(fixed + self._take(room + -room % 8))
        reader.at = 12
        fields: dict[int, Any] = dict(reader.get("a(yv)"))
        body = Reader(self._take(size))
        found = tuple(body.get(each) for each in types(fields.get(8, "")))
        return kind, fields.get(5, 0), fields.get(4) or fields.get(3, ""), found

    def signal(self) -> tuple[str, tuple[Any, ...]]:
        """The next signal that has come, or comes."""
        while not self.signals:
            kind, _, name, found = self.receive()
            assert kind == SIGNAL
            self.signals.append((name, found))
        return self.signals.pop(0)

    def _take(self, size: int) -> bytes:
        while len(self._rest) < size:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError
            self._rest += more
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def attempt(client: Client, what: str, *call: Any, told: bool = True) -> None:
    """Print what a call of the bus has come to; of an error only the name, unless the text is `told`."""
    try:
        found = client.bus(*call)
        print(what, found)
    except BusError as error:
        print(what, (str(error) if told else error.name).replace(client.name, "SELF"))


def main() -> None:
    """Print what the bus at a path answers to calls right and wrong."""
    path = sys.argv[1]
    client = Client(path)
    print(client.name.startswith(":1."), client.signal()[0])
    attempt(client, "hello again", "Hello")
    attempt(client, "owner of none", "GetNameOwner", "s", "com.example.Nobody")
    attempt(client, "owner of the bus", "GetNameOwner", "s", BUS)
    attempt(client, "has owner", "NameHasOwner", "s", "com.example.Nobody")
    attempt(client, "bus has owner", "NameHasOwner", "s", BUS)
    attempt(client, "uid", "GetConnectionUnixUser", "s", client.name)
    print("pid", client.bus("GetConnectionUnixProcessID", "s", client.name) == os.getpid())
    attempt(client, "uid of none", "GetConnectionUnixUser", "s", "com.example.Nobody")
    attempt(client, "own a name", "RequestName", "su", "com.example.Name", 0)
    attempt(client, "own no name", "RequestName", "su", "nodots", 0)
    attempt(client, "release", "ReleaseName", "s", "com.example.Name")
    attempt(client, "start", "StartServiceByName", "su", "com.example.Nobody", 0)
    attempt(client, "start the bus", "StartServiceByName", "su", BUS, 0)
    attempt(client, "no method", "NoSuchMethod", told=False)
    attempt(client, "wrong type", "GetNameOwner", "u", 1, told=False)
    for rule in ("type='signal'", "type='signal", "nothing", "what='is',type='signal'", "arg70='x'"):
        attempt(client, f"match {rule}", "AddMatch", "s", rule, told=False)
    attempt(client, "unmatch", "RemoveMatch", "s", "type='signal'")
    attempt(client, "unmatch again", "RemoveMatch", "s", "type='signal'")
    client.bus("AddMatch", "s", f"type='signal',sender='{BUS}',member='NameOwnerChanged',arg0namespace=':1'")
    other = Client(path)
    print("told", client.signal() == ("NameOwnerChanged", (other.name, "", other.name)))
    for destination in (other.name, "com.example.Nobody"):
        try:
            client.call(destination, "/", "com.example.Interface", "Method")
        except BusError as error:
            print("call another", error.name)
    other.socket.close()
    print("told", client.signal()[1][1:] == (other.name, ""))
    silent = Client(path, hello=False)
    try:
        silent.bus("GetId")
    except (EOFError, BusError) as error:
        print("no hello", type(error).__name__)


if __name__ == "__main__":
    main()

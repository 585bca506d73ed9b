"""Nodes give out numbered tickets, each number once; the first of the nodes that hear each other leads, and gives them out.

A leader needs the consent of most of the nodes that it has heard of lately: in a partition each side has a leader then, and
both give out one number. Mended: of most of all nodes.
"""

import os
import select
import socket
import sys
import time

NODES = ["n1", "n2", "n3"]
LATELY_S, BEAT_S, END_S = 2.0, 0.5, 25.0
MENDED = bool(os.environ.get("MENDED"))


class Node:
    def __init__(self, name: str) -> None:
        self.name, self.last, self.asked = name, 0, 0
        self.heard: dict[str, float] = {}
        self.consent: set[str] = set()
        self.given: set[int] = set()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("", 7000))
        self.others = {node: (socket.gethostbyname(node), 7000) for node in NODES if node != name}

    def send(self, node: str, word: str, number: int) -> None:
        self.socket.sendto(f"{word} {self.name} {number}".encode(), self.others[node])

    def members(self) -> list[str]:
        now = time.monotonic()
        return [self.name, *(node for node, at in self.heard.items() if now < at + LATELY_S)]

    def beat(self) -> None:
        if self.name == min(self.members()):
            self.last += 1
            self.asked, self.consent = self.last, {self.name}
            self.count()
            for node in self.others:
                self.send(node, "take", self.asked)
        for node in self.others:
            self.send(node, "beat", 0)
            for number in self.given:
                self.send(node, "given", number)

    def count(self) -> None:
        needed = NODES if MENDED else self.members()
        if len(self.consent) > len(needed) / 2:
            self.given.add(self.asked)

    def hear(self, word: str, node: str, number: int) -> None:
        self.heard[node] = time.monotonic()
        if word == "take" and number > self.last:
            self.last = number
            self.send(node, "yes", number)
        elif word == "yes" and number == self.asked:
            self.consent.add(node)
            self.count()
        elif word == "given" and number in self.given:
            print(f"{node} and {self.name} have both given ticket {number}", flush=True)

    def run(self) -> None:
        start = time.monotonic()
        beats_at = start + 1
        while time.monotonic() < start + END_S:
            readable, _, _ = select.select([self.socket], [], [], max(beats_at - time.monotonic(), 0))
            if readable:
                word, node, number = self.socket.recv(100).decode().split()
                self.hear(word, node, int(number))
            elif time.monotonic() >= beats_at:
                beats_at += BEAT_S
                self.beat()


Node(sys.argv[1]).run()

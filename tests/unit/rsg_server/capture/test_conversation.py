"""Segments of a TCP connection: numbers, acknowledgements, and when each passes the two hosts."""

from __future__ import annotations

import dpkt
import pytest

from rsg_server.capture.conversation import KEPT, Conversation, Side
from rsg_server.capture.frames import Endpoint

LATENCY_NS = 100
Recorded = list[tuple[str, int, dpkt.tcp.TCP]]


@pytest.fixture
def recorded() -> Recorded:
    return []


@pytest.fixture
def conversation(recorded: Recorded) -> Conversation:
    def record(host: str, moment_ns: int, frame: bytes) -> None:
        recorded.append((host, moment_ns, segment(frame)))

    sides = Side("a", Endpoint(b"\x0a\0\0\1", 40000), 1000), Side("b", Endpoint(b"\x0a\0\0\2", 80), 5000)
    return Conversation(*sides, record)


def segment(frame: bytes) -> dpkt.tcp.TCP:
    return dpkt.ethernet.Ethernet(frame).data.data


def connect(conversation: Conversation) -> None:
    conversation.syn_ack(LATENCY_NS)
    conversation.established(2 * LATENCY_NS, LATENCY_NS)


def test_three_segments_open_a_connection(conversation: Conversation, recorded: Recorded) -> None:
    syn, answer = segment(conversation.syn()), segment(conversation.syn_ack(LATENCY_NS))
    assert (syn.seq, syn.flags) == (1000, dpkt.tcp.TH_SYN)
    assert (answer.seq, answer.ack, answer.flags) == (5000, 1001, dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK)
    conversation.established(2 * LATENCY_NS, LATENCY_NS)
    assert [(host, moment, last.seq, last.ack) for host, moment, last in recorded] == [
        ("a", 200, 1001, 5001),
        ("b", 300, 1001, 5001),
    ]


def test_a_refusal_acknowledges_the_syn(conversation: Conversation) -> None:
    refusal = segment(conversation.refusal())
    assert (refusal.seq, refusal.ack, refusal.flags) == (0, 1001, dpkt.tcp.TH_RST | dpkt.tcp.TH_ACK)


def test_data_leaves_evenly_and_every_second_segment_is_acknowledged(conversation: Conversation, recorded: Recorded) -> None:
    connect(conversation)
    recorded.clear()
    conversation.data(conversation.client, 0, bytes(3 * 1460), 1000, 4000, 4000 + LATENCY_NS)
    sent = [(moment, part.seq, len(part.data)) for host, moment, part in recorded if host == "a" and part.data]
    assert sent == [(2000, 1001, 1460), (3000, 2461, 1460), (4000, 3921, 1460)]
    answers = [(moment, part.ack) for host, moment, part in recorded if host == "b" and not part.data]
    assert answers == [(3100, 3921), (4100, 5381)]


def test_what_is_lost_does_not_pass_the_receiver(conversation: Conversation, recorded: Recorded) -> None:
    connect(conversation)
    recorded.clear()
    conversation.data(conversation.client, 0, b"lost", 1000, 2000, None)
    conversation.end(conversation.client, 3000, None)
    assert [host for host, _, _ in recorded] == ["a", "a"]


def test_the_end_has_a_number_of_its_own(conversation: Conversation, recorded: Recorded) -> None:
    connect(conversation)
    recorded.clear()
    conversation.end(conversation.client, 1000, 1000 + LATENCY_NS)
    assert recorded[0][2].flags & dpkt.tcp.TH_FIN
    assert [part.ack for host, _, part in recorded if host == "b" and not part.flags & dpkt.tcp.TH_FIN] == [1002]
    assert segment(conversation.reset(conversation.client, 2000)).seq == 1002


def test_only_late_moments_are_kept() -> None:
    side = Side("a", Endpoint(b"\x0a\0\0\1", 40000), 1000)
    for moment in range(3 * KEPT):
        side.hear(moment, moment + 1)
    assert len(side.moments) <= 2 * KEPT
    assert side.acknowledges(3 * KEPT) == 3 * KEPT

"""One socket for all hosts: each message is assigned to its host, in whatever order messages come."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.launch.factory.broker import FACTORY, Broker, ContainerError, FactoryError, Party

Pair = tuple[Broker, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A broker and the factory's end of its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.settimeout(10)
    with ours, theirs:
        yield Broker(ours), theirs


def say(factory: socket.socket, *lines: str) -> None:
    for line in lines:
        factory.send(line.encode())


def test_a_question_goes_to_its_address_and_its_answer_to_who_asked(pair: Pair) -> None:
    broker, factory = pair
    number = broker.admit()
    say(factory, f"{number} ok 17")
    assert broker.ask(number, f"host={number}", ["argv=true", "cwd=/"]) == "ok 17"
    assert factory.recv(4096) == b"host=1\0argv=true\0cwd=/\0"


def test_notices_in_between_are_kept_for_whoever_asks(pair: Pair) -> None:
    broker, factory = pair
    first, second = broker.admit(), broker.admit()
    say(factory, "2 ended 5 256", "1 ended 7 9", "2 gone", "1 ended 5 0", "1 ok 8")
    assert broker.ask(first, "host=1", ["argv=true"]) == "ok 8"
    assert [broker.wait_ended(*which, 10) for which in ((first, 5), (second, 5), (first, 7))] == [0, 256, 9]
    assert broker.wait_ended(second, 6, 10) is None  # as it is gone
    assert broker.ask(second, "host=2", ["argv=true"]) is None
    assert broker.wait_ended(first, 5, 0.01) is None  # a status is told once


def test_the_answer_to_a_question_that_was_given_up_is_nobodys(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    broker, factory = pair

    def interrupt(broker: Broker, patience_s: float | None) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Broker, "_listen", interrupt)
        with pytest.raises(KeyboardInterrupt):
            broker.ask(FACTORY, "birth=1", ["namespaces=none"])
    say(factory, "0 ok 4711", "0 error not that")
    assert broker.ask(FACTORY, "factory=0", ["await=4711"]) == "error not that"


def test_who_is_dismissed_is_not_heard_any_more_and_nobody_takes_its_number(pair: Pair) -> None:
    broker, factory = pair
    number = broker.admit()
    broker.dismiss(number)
    broker.dismiss(number)
    later = broker.admit()
    assert later != number
    say(factory, f"{number} ended 5 0", f"{number} gone", f"{later} ok 6")
    assert broker.ask(later, f"host={later}", ["argv=true"]) == "ok 6"
    assert broker.ask(number, f"host={number}", ["argv=true"]) is None
    assert broker.wait_ended(number, 5, 10) is None
    assert [factory.recv(99), factory.recv(99)] == [b"close=1\0", b"host=2\0argv=true\0"]


@pytest.mark.parametrize("has_unread", [False, True])
def test_a_dead_factory_is_one_line_for_all(pair: Pair, has_unread: bool) -> None:
    broker, factory = pair
    number = broker.admit()
    if has_unread:  # the kernel says "connection reset" then, not the end
        broker.dismiss(broker.admit())
    factory.close()
    for _ in range(2):
        with pytest.raises(FactoryError, match="the factory of hosts has died"):
            broker.wait_ended(number, 5, 10)
        with pytest.raises(FactoryError, match="the factory of hosts has died"):
            broker.ask(number, f"host={number}", ["argv=true"])
    broker.dismiss(number)


@pytest.mark.parametrize(("words", "why"), [(["argv=a\0b"], "zero byte"), (["argv=" + "x" * (1 << 18)], "exceed 256 KiB")])
def test_what_is_no_message_is_not_sent(pair: Pair, words: list[str], why: str) -> None:
    broker, factory = pair
    number = broker.admit()
    with pytest.raises(ContainerError, match=why):
        broker.ask(number, f"host={number}", words)
    say(factory, f"{number} ok 1")
    assert broker.ask(number, f"host={number}", ["argv=true"]) == "ok 1"


@given(st.dictionaries(st.integers(1, 1 << 22), st.integers(0, 1 << 16)), st.text())
def test_statuses_are_kept_by_process_whatever_answers_say(statuses: dict[int, int], text: str) -> None:
    party = Party()
    for process, status in statuses.items():
        party.note(f"ended {process} {status}")
        party.note(f"error {text}")
    assert (party.ended, party.answered, party.is_gone) == (statuses, len(statuses), False)

"""Slurm's messages in a stream: where one ends and which it is, in the layouts of all releases."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.rjms.slurm.wire.frames import message
from simunix.rjms.slurm.wire.names import NAMES

PROTOCOLS = {"20.11": 36, "21.08": 37, "22.05": 38, "24.11": 42, "26.05": 45}


def framed(content: bytes) -> bytes:
    return struct.pack("!I", len(content)) + content


def of_release(release: str, number: int, body: bytes = b"body") -> bytes:
    """A message with the header that this release packs: version, flags, before 22.05 a zero, type, length of the body."""
    version = PROTOCOLS[release] << 8
    between = (0,) if PROTOCOLS[release] < 38 else ()
    fields = (version, 0x0001, *between, number)
    return framed(struct.pack(f"!{len(fields)}HI", *fields, len(body)) + body)


@pytest.mark.parametrize("release", PROTOCOLS)
def test_a_message_of_each_release(release: str) -> None:
    data = of_release(release, 4003)
    assert message(data + b"what follows") == (len(data), "REQUEST_SUBMIT_BATCH_JOB")
    assert message(of_release(release, 9999)) == (len(of_release(release, 9999)), "RPC_9999")


def test_numbers_that_the_sources_say() -> None:
    expected = {
        1001: "REQUEST_NODE_REGISTRATION_STATUS",
        1002: "MESSAGE_NODE_REGISTRATION_STATUS",
        1008: "REQUEST_PING",
        4004: "RESPONSE_SUBMIT_BATCH_JOB",
        6011: "REQUEST_TERMINATE_JOB",
        8001: "RESPONSE_SLURM_RC",
        10003: "ACCOUNTING_REGISTER_CTLD",
        1401: "DBD_FINI",
        1407: "DBD_CLUSTER_TRES",
        1433: "PERSIST_RC",
    }
    assert {number: NAMES[number] for number in expected} == expected
    assert 11001 not in NAMES and "-" not in NAMES.values()


def test_a_message_to_slurmdbd_begins_with_its_type() -> None:
    first = framed(struct.pack("!HHHH", 6500, 38 << 8, 0x20, 6500) + b"cluster")
    assert message(first) == (len(first), "REQUEST_PERSIST_INIT")
    later = framed(struct.pack("!H", 1407) + b"cpu=4 mem=1G")
    assert message(later) == (len(later), "DBD_CLUSTER_TRES")


@pytest.mark.parametrize("size", range(12))
def test_too_few_bytes_tell_nothing(size: int) -> None:
    assert message(of_release("24.11", 1008)[:size]) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\n", id="a length that no message has"),
        pytest.param(framed(b""), id="too short for a header"),
        pytest.param(framed(struct.pack("!HIII", 38 << 8, 1, 2, 3) + bytes(16)), id="how the output of a step begins"),
        pytest.param(framed(b"hello, world"), id="a text"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no message of Slurm"):
        message(data)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    try:
        found = message(data)
    except ValueError:
        return
    assert found is None or (found[0] > 4 and found[1])

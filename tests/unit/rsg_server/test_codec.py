"""csrc/shared/msgpack.c against the msgpack package, in both directions."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rsg_server._native import ffi, lib

Value = int | bytes | str
INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)
EDGES = [sign * 2**bits + step for bits in (5, 7, 8, 15, 16, 31, 32, 62) for sign in (1, -1) for step in (-1, 0, 1)]
numbers = INT64 | st.sampled_from(EDGES)
raw = st.binary(max_size=40) | st.sampled_from([b"x" * size for size in (255, 256, 1000)])
texts = st.text(max_size=40) | st.sampled_from(["x" * size for size in (31, 32, 255, 256, 1000)])
messages = st.lists(numbers | raw | texts, max_size=15)


def encode(values: list[Value], room: int = 1 << 16) -> tuple[bytes, bool]:
    """What the C writer makes of the values, and whether something did not fit."""
    writer, buffer = ffi.new("struct msgpack_writer *"), ffi.new("uint8_t[]", room + 1)
    buffer[room] = 0xA5
    lib.msgpack_start(writer, buffer, room)
    lib.msgpack_put_array(writer, len(values))
    for value in values:
        if isinstance(value, int):
            lib.msgpack_put_int(writer, value)
        elif isinstance(value, bytes):
            lib.msgpack_put_bytes(writer, value, len(value))
        else:
            lib.msgpack_put_text(writer, value.encode(), len(value.encode()))
    assert buffer[room] == 0xA5, "written past the end"
    return bytes(ffi.buffer(buffer, writer.next - buffer)), bool(writer.overflow)


def decode(message: bytes) -> list[Value] | None:
    """What the C reader makes of a message; None if it refuses. Text comes as bytes."""
    array, source = ffi.new("struct msgpack_array *"), ffi.new("uint8_t[]", message)  # one more byte than it may read
    if lib.msgpack_get_array(array, source, len(message)) != 0:
        return None
    assert 0 <= array.count <= 15
    return [value_at(array, at, source, len(message)) for at in range(array.count)]


def value_at(array: Any, at: int, source: Any, size: int) -> Value:
    if array.kind[at] == b"i":
        return int(array.number[at])
    assert array.kind[at] == b"b"
    start = array.bytes[at] - source
    assert start >= 0 and start + array.length[at] <= size, "points outside of the message"
    return bytes(ffi.buffer(array.bytes[at], array.length[at]))


def as_bytes(values: list[Value]) -> list[Value]:
    return [value.encode() if isinstance(value, str) else value for value in values]


@given(messages)
def test_what_c_writes_is_byte_for_byte_what_the_package_writes(values: list[Value]) -> None:
    assert encode(values) == (msgpack.packb(values, use_bin_type=True), False)


@given(messages)
def test_what_the_package_writes_c_reads(values: list[Value]) -> None:
    assert decode(msgpack.packb(values, use_bin_type=True)) == as_bytes(values)


@given(messages)
def test_what_c_writes_c_reads(values: list[Value]) -> None:
    assert decode(encode(values)[0]) == as_bytes(values)


@given(UINT64)
def test_unsigned_numbers(value: int) -> None:
    writer, buffer = ffi.new("struct msgpack_writer *"), ffi.new("uint8_t[16]")
    lib.msgpack_start(writer, buffer, 16)
    lib.msgpack_put_uint(writer, value)
    assert bytes(ffi.buffer(buffer, writer.next - buffer)) == msgpack.packb(value)
    read = decode(msgpack.packb([value]))
    assert read is not None and isinstance(read[0], int) and read[0] % 2**64 == value


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 255, 256, 65535])
def test_array_headers(count: int) -> None:
    assert encode([0] * count, 1 << 17) == (msgpack.packb([0] * count), False)


@given(messages, st.integers(0, 600))
def test_too_little_room_is_told_and_nothing_is_written_outside(values: list[Value], room: int) -> None:
    whole = msgpack.packb(values, use_bin_type=True)
    written, overflow = encode(values, room)
    assert overflow == (len(whole) > room)
    assert whole.startswith(written)


@given(st.binary(max_size=80) | st.binary(max_size=60).map(lambda rest: bytes([0x90 | len(rest) % 16]) + rest))
@example(b"")
@example(b"\x91")
@example(b"\x91\xc5\xff\xff")
@example(b"\x91\xda\x00")
@example(b"\x91\xcf" + b"\xff" * 7)
@example(b"\x9f" + b"\x00" * 15)
def test_any_bytes_are_refused_or_mean_what_the_package_says(message: bytes) -> None:
    read = decode(message)
    if read is not None:
        expected = msgpack.unpackb(message, raw=True)
        assert [value % 2**64 if isinstance(value, int) else value for value in read] == [
            value % 2**64 if isinstance(value, int) else value for value in expected
        ]


@given(messages.filter(bool), st.data())
def test_a_message_that_is_cut_or_has_more_behind_it_is_refused(values: list[Value], data: Any) -> None:
    message = msgpack.packb(values, use_bin_type=True)
    assert decode(message[: data.draw(st.integers(0, len(message) - 1))]) is None
    assert decode(message + data.draw(st.binary(min_size=1, max_size=4))) is None


@pytest.mark.parametrize("value", [None, True, 1.5, [1], {1: 2}, msgpack.ExtType(1, b"x"), b"x" * 65536])
def test_what_the_wire_does_not_use_is_refused(value: object) -> None:
    assert decode(msgpack.packb([value])) is None

"""The numbers of csrc/protocol.h, read from the compiled header through cffi; there is no second copy."""

import errno
from enum import IntEnum

from rsg_server._native import ffi, lib


def _members(prefix: str, enum_name: str) -> list[tuple[str, int]]:
    elements = ffi.typeof(f"enum {enum_name}").relements
    return [(name.removeprefix(prefix), number) for name, number in sorted(elements.items(), key=lambda item: item[1])]


Op = IntEnum("Op", _members("OP_", "simunix_op"))  # type: ignore[misc]
Hello = IntEnum("Hello", _members("HELLO_", "simunix_hello"))  # type: ignore[misc]
Fork = IntEnum("Fork", _members("FORK_", "simunix_fork"))  # type: ignore[misc]
Wait = IntEnum("Wait", _members("PARK_", "simunix_wait"))  # type: ignore[misc]
Wake = IntEnum("Wake", _members("WAKE_", "simunix_wake"))  # type: ignore[misc]
Warning_ = IntEnum("Warning_", _members("WARN_", "simunix_warning"))  # type: ignore[misc]

MESSAGE_MAX: int = lib.SIMUNIX_MESSAGE_MAX
PROTOCOL_VERSION: int = lib.SIMUNIX_PROTOCOL_VERSION
SOCKET_NAME_LENGTH: int = lib.SIMUNIX_SOCKET_NAME_LENGTH
FLAG_FAKE_NAME: int = lib.HELLO_FLAG_FAKE_NAME
FLAG_FAKE_GROUPS: int = lib.HELLO_FLAG_FAKE_GROUPS

PAGE_FIELDS: dict[str, int] = {
    name: field.offset // 8 for name, field in ffi.typeof("struct simunix_clock_page").fields if field.type.kind == "primitive"
}
"""Index of each 64-bit field of the clock page in an array of 64-bit words (the last two fields are 32 bits wide)."""

DATAGRAM_HEADER_BYTES: int = ffi.sizeof("struct simunix_datagram")
NEVER = -1


def errno_name(code: int) -> str:
    """ENOENT for 2 and for -2; the number itself where Linux names none."""
    return errno.errorcode.get(abs(code), str(code))

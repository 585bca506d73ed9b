"""Where a message of Slurm ends in a stream of bytes, and which it is.

A message is its length (32 bits, in network order, itself not counted), then its header, credential and body. The header
(`pack_header` in src/common/slurm_protocol_pack.c) is of 16-bit numbers: the version of the protocol, flags, before 22.05 a
zero, and the type. Between slurmdbd and its clients messages begin with the type. Slurm 20.11 has version 36 << 8, each release
after it one more in the high byte; the low byte is 0 (src/common/slurm_protocol_common.h).
"""

from __future__ import annotations

import struct

from simunix.rjms.slurm.wire.names import NAMES, name_of

LENGTH_BYTES = 4
MOST_BYTES = 1 << 30
"""MAX_MSG_SIZE of src/common/slurm_protocol_socket.c: no longer message is read."""
HEAD = struct.Struct("!IHHHH")
WITHOUT_PADDING = 38 << 8
"""The protocol of 22.05, the first whose type follows the flags."""
FIRST = 1001
"""No message has a lower number. What a step's output begins with has a version and the number of a node at these places."""
OLDEST, NEWEST = 36, 80
"""High bytes of the versions that are taken for one: from 20.11 on, with room for those to come."""


def message(begin: bytes) -> tuple[int, str] | None:
    """Return the size, in bytes, and the name of the message that a stream goes on with; None if more bytes are needed
    to tell.

    Raises ValueError for a stream that is none of Slurm's messages, such as the output of a job step on its way to srun.
    """
    if len(begin) < LENGTH_BYTES:
        return None
    length = int.from_bytes(begin[:LENGTH_BYTES], "big")
    if not HEAD.size - LENGTH_BYTES <= length <= MOST_BYTES:
        raise ValueError(f"no message of Slurm: {length}")
    if len(begin) < HEAD.size:
        return None
    _, first, _, padding, later = HEAD.unpack_from(begin)
    if OLDEST <= first >> 8 <= NEWEST and not first & 0xFF:
        number = padding if first >= WITHOUT_PADDING else later
        if number < FIRST:
            raise ValueError(f"no message of Slurm: {number}")
    elif first in NAMES:
        number = first
    else:
        raise ValueError(f"no message of Slurm: {first}")
    return LENGTH_BYTES + length, name_of(number)

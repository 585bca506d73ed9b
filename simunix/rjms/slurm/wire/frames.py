"""Find the end and the type of a message of Slurm in the bytes of a connection.

A message is its length (32 bits in network byte order, not counting itself), a header, a credential and a body. The
header (`pack_header` in src/common/slurm_protocol_pack.c) has 16-bit numbers: the protocol version, flags, a zero
(before 22.05), and the type. Between slurmdbd and its clients, messages begin with the type. Slurm 20.11 has version 36
<< 8. Each later release adds one to the high byte; the low byte is 0 (src/common/slurm_protocol_common.h).
"""

from __future__ import annotations

import struct

from simunix.rjms.slurm.wire.names import NAMES, name_of

LENGTH_BYTES = 4
MOST_BYTES = 1 << 30
"""The most bytes of a message that Slurm reads (MAX_MSG_SIZE of src/common/slurm_protocol_socket.c)."""
HEAD = struct.Struct("!IHHHH")
WITHOUT_PADDING = 38 << 8
"""The protocol version of 22.05, the first in which the type follows the flags directly."""
FIRST = 1001
"""The least type number of a message. The output of a job step, which is no message, has smaller numbers at this place.
"""
OLDEST, NEWEST = 36, 80
"""The high bytes that are accepted as a protocol version: from 20.11 on, with room for future releases."""


def message(begin: bytes) -> tuple[int, str] | None:
    """Return the size in bytes and the name of the first message in the bytes; None if more bytes are needed to know.

    Raises ValueError for bytes that are no message of Slurm, such as the output of a job step on its way to srun.
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

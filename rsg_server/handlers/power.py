"""Handles POWER_FILE: what files about a host's power contain, and what programs write to them (cpufreq, RAPL).

The shim recognises these files (csrc/shim/sys/procfs/power_files.c).
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply, failed, handled
from rsg_server.protocol import Op, PowerFile

if TYPE_CHECKING:
    from rsg_server.power_files.files import PowerFiles
    from rsg_server.process.actor import Actor


class PowerHandlers:
    """Handles POWER_FILE: reads of files about power, and writes to them."""

    def __init__(self, power_files: PowerFiles) -> None:
        self._power_files = power_files

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.POWER_FILE: self.power_file})

    def power_file(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Read a file about power, read a register of such a file, or write to it.

        [path, a value of enum simunix_power_file, offset, bytes] -> [0, text or value]; -ENOENT for a path that is no
        file about power.
        """
        path, what, offset, written = arguments[0].decode(errors="replace"), arguments[1], arguments[2], arguments[3]
        host, files = actor.process.host.name, self._power_files
        if what == PowerFile.WRITE:
            text = written.partition(b"\0")[0].decode(errors="replace")  # Linux, too, ignores what is written behind this
            return Reply((-files.write(host, path, text), b""))
        if what == PowerFile.REGISTER:
            value = files.register(host, path, offset)
            return failed(errno.EIO) if value is None else Reply((0, value))
        text = files.text(host, path)
        return failed(errno.ENOENT) if text is None else Reply((0, text.encode()))

"""The key `burst_buffers:` of a Slurm cluster: the files of Slurm's plugin burst_buffer/lua, with the script that
copies data.

Slurm sees each burst buffer as a pool. The data of a burst buffer lie in a folder on a storage of the scenario. A scenario can
have one burst buffer for each rack, for example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.parameters import Value
from simunix.scenario.section import FileName, Section, Size, check_private

FOLDER = "/etc/slurm"
SCRIPT = Path(__file__).parent / "burst_buffer.lua"
CONF = """# Written by simunix: no copy is ever given up.
StageInTimeout=2000000
StageOutTimeout=2000000
OtherTimeout=2000000
ValidateTimeout=2000000
"""


class BurstBufferSection(Section):
    """The section of one burst buffer, whose name is the name of the pool in Slurm. The scenario must mount the folder
    `path` on the controller and on the nodes that use the burst buffer.
    """

    name: FileName
    path: str
    capacity: Size


def with_plugin(buffers: Sequence[BurstBufferSection], parameters: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the parameters of slurm.conf, with the plugin's parameter added if there are burst buffers."""
    return {**parameters, "BurstBufferType": "burst_buffer/lua"} if buffers else parameters


def files(buffers: Sequence[BurstBufferSection], key: str) -> dict[str, tuple[bytes, int]]:
    """Return the content and mode of the files for burst buffers, by path; no files without burst buffers. Raises
    SimunixError, beginning with `key`, for a wrong section of a burst buffer.
    """
    if not buffers:
        return {}
    lines = []
    for index, buffer in enumerate(buffers):
        place = f"{key}.burst_buffers[{index}]"
        if any(other.name == buffer.name for other in buffers[:index]):
            raise SimunixError(f"{place}.name: there is a burst buffer {buffer.name!r} already; choose another name")
        try:
            check_private(buffer.path)
        except ValueError as error:
            raise SimunixError(f"{place}.path: {error}") from None
        if set(buffer.path) & set(" \t\n"):
            raise SimunixError(f"{place}.path: {buffer.path!r} has a space in it; choose another path")
        lines.append(f"{buffer.name} {buffer.path.rstrip('/')} {buffer.capacity}\n")
    return {
        f"{FOLDER}/burst_buffer.lua": (SCRIPT.read_bytes(), 0o755),
        f"{FOLDER}/burst_buffer.conf": (CONF.encode(), 0o644),
        f"{FOLDER}/burst_buffer.pools": ("".join(lines).encode(), 0o644),
    }

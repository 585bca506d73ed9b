"""Read a platform from a file that the user names: a SimGrid platform file or a scenario."""

from __future__ import annotations

from pathlib import Path

from rsg_server.platform.platform import Platform
from rsg_server.platform.simgrid_xml import load_platform
from simunix.planning.expand import platform_of
from simunix.rjms.scenario import load


def read_platform(path: Path, simgrid_compat: bool = False) -> Platform:
    """Read a platform: from a SimGrid platform file if the name ends in `.xml`, otherwise from a scenario. Raises
    SimunixError for a malformed file.
    """
    if path.suffix.lower() == ".xml":
        return load_platform(path, simgrid_compat)
    return platform_of(load(path), path.parent)

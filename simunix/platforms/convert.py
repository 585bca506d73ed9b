"""Convert a SimGrid platform file to the hosts and the network of a scenario, or the reverse."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.platforms.as_scenario import scenario_text
from simunix.platforms.as_simgrid import simgrid_text
from simunix.platforms.source import read_platform

WRITERS = {".yaml": scenario_text, ".yml": scenario_text, ".xml": simgrid_text}


def convert(source: Path, output: Path, warn: Callable[[str], None] = lambda text: None) -> None:
    """Convert a platform file and write `output`, in the format that the ending of its name says. Raises SimunixError
    for a platform that cannot be converted.

    `warn` is called with each outdated or wrong part of the source, and how it was read.
    """
    write = WRITERS.get(output.suffix.lower())
    if write is None or output.suffix.lower() == source.suffix.lower():
        wanted = ".yaml" if source.suffix.lower() == ".xml" else ".xml"
        raise SimunixError(f"{output}: expected a name that ends in {wanted}")
    platform = read_platform(source)
    for warning in platform.description.warnings:
        warn(warning)
    text = write(platform, source.stem)
    try:
        if output.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with whole_path(output) as draft:
            draft.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SimunixError(unwritten(output, error)) from None

"""Conversion of a SimGrid platform file to a scenario's hosts and network, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.platforms.as_scenario import scenario_text
from simunix.platforms.as_simgrid import simgrid_text
from simunix.platforms.source import read_platform

WRITERS = {".yaml": scenario_text, ".yml": scenario_text, ".xml": simgrid_text}


def convert(source: Path, output: Path, warn: Callable[[str], None] = lambda text: None) -> None:
    """Write `output` in the format that its name tells. Raises SimunixError for a platform that cannot be converted.

    `warn` gets what the source has that is old or wrong, and how that was read.
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
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise SimunixError(f"{output}: {error.strerror}; choose another name") from None

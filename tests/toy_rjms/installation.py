"""The toy as a package that is installed: its entry point in a folder of the path of modules."""

from __future__ import annotations

import os
from pathlib import Path

from tests.starts import ROOT


def install(folder: Path, value: str = "tests.toy_rjms.adapter:TOY") -> dict[str, str]:
    """What pip leaves of a package whose pyproject.toml names the entry point; returns an environment that has it."""
    package = folder / "toy_rjms-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-rjms\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[simunix.rjms]\ntoy = {value}\n")
    return {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}"}

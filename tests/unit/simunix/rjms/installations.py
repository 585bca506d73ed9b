"""Root file systems in which an RJMS is installed by the names of its files alone, since nothing in them is run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from simunix.planning.expand import Expansion, expand
from simunix.rjms.scenario import load

NEEDED = ("/bin/sh", "/usr/bin/python3", "/lib64/ld-linux-x86-64.so.2")
"""What every root has to have."""


def bare_root(folder: Path, *users: str) -> Path:
    """A root file system without an RJMS; `users` are lines of its /etc/passwd besides root's."""
    for path in NEEDED:
        write_program(folder / path.lstrip("/"))
    (folder / "etc").mkdir()
    (folder / "etc/passwd").write_text("".join(f"{line}\n" for line in ("root:x:0:0::/root:/bin/sh", *users)))
    return folder


def installed(folder: Path, programs: Iterable[str], *users: str, content: str = "") -> Path:
    """A root file system with these programs and users of an RJMS; `content` is what every program consists of."""
    bare_root(folder, *users)
    for path in programs:
        write_program(folder / path.lstrip("/"), content)
    return folder


def write_program(file: Path, content: str = "") -> None:
    """Write a file that everybody may execute, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    file.chmod(0o755)


def expanded(folder: Path, scenario: str, *settings: str) -> Expansion:
    """What becomes of a scenario's text; `folder` is what its paths are relative to."""
    (folder / "s.yaml").write_text(scenario)
    return expand(load(folder / "s.yaml", settings), folder, checked=False)

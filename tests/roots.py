"""Root file systems with Debian packages that tests run in. Making one takes minutes: each is kept between runs of the tests.

They are in the folder that SIMUNIX_ROOTS names (default: simunix/roots in the user's cache folder), each below its name.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Simunix


@dataclass(frozen=True, slots=True)
class KeptRoot:
    """A root: its name in the folder of all roots, the Debian release it is made of, and the packages in it."""

    name: str
    release: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where the root is, or would be."""
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(os.environ.get("SIMUNIX_ROOTS") or Path(cache, "simunix/roots"), self.name)

    def made(self, simunix: Simunix) -> Path:
        """The root's folder; the root is made if need be. Where it cannot be made, the test is skipped with the reason."""
        if not self.folder.exists():
            if os.geteuid() != 0 or shutil.which("debootstrap") is None:
                pytest.skip(f"no {self.folder}, and making it takes root and debootstrap")
            made = simunix("root", "make", self.release, self.folder, *self.packages, timeout=900)
            if "no network" in made.stderr:
                pytest.skip(made.stderr.strip())
            # Another test process may have made the root meanwhile: a root gets its name when it is whole.
            assert made.returncode == 0 or self.folder.exists(), made.stderr
        return self.folder

    def found(self) -> Path:
        """The root's folder; where nobody has made the root, the test is skipped with the command that makes it."""
        if not self.folder.exists():
            make = f"simunix root make {self.release} {self.folder} {' '.join(self.packages)}"
            pytest.skip(f"no {self.folder}; make it with: {make}")
        return self.folder

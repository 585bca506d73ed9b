"""The build looks for packages, all of them, and not through what runs have left in the checkout.

A run directory shows its hosts' interfaces as sysfs does, with links that lead round in circles: who follows them never ends.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from setuptools import PackageFinder

ROOT = Path(__file__).resolve().parents[2]
FIND = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]


def test_folders_that_are_no_packages_are_not_searched() -> None:
    assert FIND["namespaces"] is False


def test_every_module_is_in_a_package_that_is_found() -> None:
    modules = [path for top in ("simunix", "rsg_server") for path in (ROOT / top).rglob("*.py")]
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in modules}
    assert folders == set(PackageFinder.find(str(ROOT), include=FIND["include"]))

"""The package: what the build looks for, what it packs, and that it runs where nothing else of this checkout is.

A run directory shows its hosts' interfaces as sysfs does, with links that lead round in circles: a search that follows links
never ends.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest
from setuptools import PackageFinder

import simunix

ROOT = Path(__file__).resolve().parents[2]
FIND = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
NEEDED = (
    "csrc/tables/syscalls.def",
    "csrc/build/build_shim.py",
    "csrc/build/build_server.py",
    "csrc/compiled/load.c",
    "scenarios/nasa-ipsc.yaml",
    "docs/index.md",
    "LICENSE",
    "setup.py",
)


def test_folders_that_are_no_packages_are_not_searched() -> None:
    assert FIND["namespaces"] is False


def test_every_module_is_in_a_package_that_is_found() -> None:
    modules = [path for top in ("simunix", "rsg_server") for path in (ROOT / top).rglob("*.py")]
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in modules}
    assert folders == set(PackageFinder.find(str(ROOT), include=FIND["include"]))


def test_the_changelog_has_the_version() -> None:
    versions = re.findall(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == simunix.__version__


def run(*command: object, folder: Path) -> str:
    """What the command prints; fails with both streams unless it ends well. PYTHONPATH is left out."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def checkout(folder: Path) -> Path:
    """A copy of the files that git knows: a build writes beside its sources."""
    listed = run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT)
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(source.read_bytes())
    return folder


def clean_environment(folder: Path) -> Path:
    """A virtual environment that sees the dependencies of this one, and not this checkout; gives its folder of programs."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")  # .pth files in there are not read
    return folder / "bin"


@pytest.mark.slow
def test_sdist_and_wheel_run_in_a_clean_environment(tmp_path: Path) -> None:
    """The sdist holds what a build needs; the wheel built from it runs a command, and knows the scenario format."""
    sources, out = checkout(tmp_path / "sources"), tmp_path / "dist"
    build = "import sys, setuptools.build_meta as backend; print(backend.build_sdist(sys.argv[1]))"
    name = run(sys.executable, "-c", build, out, folder=sources).splitlines()[-1]
    with tarfile.open(out / name) as archive:
        members = {member.partition("/")[2] for member in archive.getnames()}
    assert set(NEEDED) <= members
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", out, out / name, folder=tmp_path)
    (wheel,) = out.glob("simunix-*.whl")
    programs = clean_environment(tmp_path / "venv")
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", site, wheel, folder=tmp_path)
    where = run(programs / "python", "-c", "import simunix; print(simunix.__file__)", folder=tmp_path)
    assert where.startswith(str(tmp_path))
    form = run(programs / "python", "-c", "from rsg_server import compiled; print(compiled.description())", folder=tmp_path)
    assert form.strip() == "compiled"
    call = (programs / "python", "-m", "simunix.cli.main")
    assert run(*call, "--version", folder=tmp_path).split()[-1] == simunix.__version__
    run(*call, "run", "--", "true", folder=tmp_path)
    assert "hosts" in json.loads(run(*call, "schema", folder=tmp_path))["properties"]
    assert "nanosleep" in run(*call, "coverage", folder=tmp_path)
    check_librsg(tmp_path, programs)


def check_librsg(folder: Path, programs: Path) -> None:
    """A program that needs librsg's headers and library is compiled with the flags that the command says, and runs."""
    command = ("-m", "simunix.cli.main", "rsg")
    flags = run(programs / "python", *command, "flags", folder=folder)
    assert str(ROOT) not in flags
    (folder / "hello.cpp").write_text(
        "#include <librsg.hpp>\n#include <rsg_protocol.h>\n#include <cstdio>\n"
        'int main() { rsg::connect(); rsg::this_actor::sleep_for(2); printf("%g\\n", rsg::Engine::get_clock()); }\n'
    )
    run("g++", "-std=c++17", "hello.cpp", *shlex.split(flags), "-o", "hello", folder=folder)
    platform = ROOT / "tests/system/rsg/families/platform.xml"
    assert run(programs / "python", *command, "run", platform, "--", "./hello", folder=folder) == "2\n"

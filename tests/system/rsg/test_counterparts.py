"""Features that SimGrid's Python module lacks: our scripts print the dates of equal C++ programs, to twelve decimals."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.system.rsg.running import HERE, PLATFORMS, compiled, run, script
from tests.system.rsg.test_dates import assert_same_dates

COUNTERPARTS = sorted((HERE / "counterparts").glob("*.py"))
OTHER_PLATFORMS = {"platform_properties": "prop", "io_dependent": "hosts_with_disks"}
"""The platform of a scenario that does not use SimGrid's small_platform.xml."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C++ program of all scenarios, built against SimGrid's library."""
    return built(HERE / "counterparts/main.cpp", tmp_path_factory.mktemp("simgrid") / "main")


def built(source: Path, target: Path, *flags: str) -> Path:
    """A C++ program that is built against SimGrid's library."""
    if not Path("/usr/include/simgrid/s4u.hpp").exists():
        pytest.skip("SimGrid's headers are not installed (Debian: libsimgrid-dev)")
    build = ["g++", "-std=c++17", "-O0", *flags, "-o", str(target), str(source), "-lsimgrid"]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def in_simgrid(program: Path, platform: Path, path: Path) -> str:
    """What the scenario of a script prints in SimGrid."""
    done = subprocess.run([program, platform, path.stem], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in COUNTERPARTS])
def test_dates_are_those_of_s4u_in_c_plus_plus(program: Path, path: Path) -> None:
    platform = PLATFORMS / f"{OTHER_PLATFORMS.get(path.stem, 'small_platform')}.xml"
    assert_same_dates(*(run(platform, path) for run in (script, partial(in_simgrid, program))))


@pytest.mark.slow
def test_one_source_of_parallel_tasks_has_the_dates_of_s4u(tmp_path: Path) -> None:
    source, platform = HERE / "tasks/exec_ptask.cpp", PLATFORMS / "small_platform.xml"
    theirs = built(source, tmp_path / "simgrid", "-DSIMGRID")
    command = [theirs, "--cfg=host/model:ptask_L07", "--log=root.thresh:critical", platform]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert_same_dates(run(platform, compiled(source, tmp_path), options=("--model", "ptask_L07")), done.stdout)

"""crun, runc and podman run containers on hosts, as root and as a user, from an unpacked image; each run is the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs, needs_root
from tests.system.images import bundle, image

pytestmark = [
    pytest.mark.slow,
    needs_root("an ordinary user's hosts have one user id, and tools that change it"),
    needs("busybox"),
]

USER = 1000
COMMAND = (
    "ps -o pid,comm; id -u; hostname; grep NSpid /proc/self/status; (sleep 5; echo slept) & wait; "
    "kill -TERM 1; ls /dev | tr '\\n' ' '; exit 4"
)
# podman leaves a process that keeps the user's namespaces, for which the run would wait.
AS_USER = """
mkdir -p /run/user/{user} /tmp/home
chown {user}:{user} /run/user/{user} /tmp/home
cd /tmp/home
exec setpriv --reuid={user} --regid={user} --clear-groups \
    env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin XDG_RUNTIME_DIR=/run/user/{user} HOME=/tmp/home sh -c '
        "$@"
        status=$?
        pause=$XDG_RUNTIME_DIR/libpod/tmp/pause.pid
        test ! -e $pause || kill $(cat $pause)
        exit $status
    ' - "$@"
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def as_user(folder: Path) -> tuple[str, str]:
    """What runs the rest of a command line as an ordinary user of the host."""
    script = folder / "as_user"
    script.write_text(AS_USER.format(user=USER))
    return "sh", str(script)


def twice(simunix: Simunix, folder: Path, make: Callable[[], object], *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in two emulations, whose event logs must be equal.

    `make` makes the image, anew for the second run: runtimes leave places for mounts in it.
    """
    digests = []
    for name in ("first", "second"):
        for made in ("bundle", "image"):
            shutil.rmtree(folder / made, ignore_errors=True)
        make()
        done: subprocess.CompletedProcess[str] = simunix(
            "run", "--out", folder / name, "--set", f"shared=[{folder}]", "--", *command, timeout=200
        )
        record = json.loads((folder / name / "run.json").read_text())
        assert record["deterministic"], (record, done.stderr)
        digests.append(record["events_sha256"])
    assert digests[0] == digests[1]
    return done


@needs("crun")
@pytest.mark.parametrize("manager", ["disabled", "cgroupfs", "systemd"])
def test_crun_runs_a_container_as_root(simunix: Simunix, open_folder: Path, manager: str) -> None:
    make = partial(bundle, open_folder / "bundle", COMMAND)
    run = ("crun", f"--cgroup-manager={manager}", "--root=/run/crun", "run", f"--bundle={open_folder}/bundle", "one")
    done = twice(simunix, open_folder, make, *run)
    assert done.returncode == 4, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:5] == ["PID   COMMAND", "    1 sh", "    2 ps", "0", "crun"], done.stdout
    assert "NSpid:\t5" in lines and "slept" in lines
    assert "null" in lines[-1] and "urandom" in lines[-1]


@needs("crun")
def test_crun_runs_a_container_as_an_ordinary_user(simunix: Simunix, open_folder: Path) -> None:
    make = partial(bundle, open_folder / "bundle", f"cat /proc/self/uid_map; {COMMAND}", rootless_of=USER)
    run = ("crun", "--cgroup-manager=disabled", "run", f"--bundle={open_folder}/bundle", "one")
    done = twice(simunix, open_folder, make, *as_user(open_folder), *run)
    assert done.returncode == 4, done.stderr
    assert done.stdout.split()[:3] == ["0", str(USER), "1"]
    assert "    1 sh\n" in done.stdout and "NSpid:\t" in done.stdout and "slept" in done.stdout


@needs("runc")
@pytest.mark.parametrize("manager", ["cgroupfs", "systemd"])
def test_runc_runs_a_container_as_root(simunix: Simunix, open_folder: Path, manager: str) -> None:
    """With systemd's manager runc looks for the folder that says that systemd runs."""
    make = partial(bundle, open_folder / "bundle", f"cat /proc/self/cgroup; ulimit -n; {COMMAND}", runtime="runc")
    words = ("--systemd-cgroup",) if manager == "systemd" else ()
    run = ("runc", "--root=/run/runc", *words, "run", f"--bundle={open_folder}/bundle", "one")
    done = twice(simunix, open_folder, make, "sh", "-c", 'mkdir -p /run/systemd/system; exec "$@"', "-", *run)
    assert done.returncode == 4, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["0::/system.slice/runc-one.scope" if manager == "systemd" else "0::/one", "1024"], done.stdout
    assert lines[2:4] == ["PID   COMMAND", "    1 sh"] and lines[5:7] == ["0", "runc"], done.stdout
    assert "slept" in lines and "null" in lines[-1] and "urandom" in lines[-1]


@needs("runc")
def test_runc_runs_a_container_as_an_ordinary_user(simunix: Simunix, open_folder: Path) -> None:
    command = f"cat /proc/self/uid_map; {COMMAND}"
    make = partial(bundle, open_folder / "bundle", command, rootless_of=USER, runtime="runc")
    run = ("runc", "--root=/tmp/home/runc", "run", f"--bundle={open_folder}/bundle", "one")
    done = twice(simunix, open_folder, make, *as_user(open_folder), *run)
    assert done.returncode == 4, done.stderr
    assert done.stdout.split()[:3] == ["0", str(USER), "1"]
    assert "    1 sh\n" in done.stdout and "slept" in done.stdout


@pytest.mark.parametrize(
    "runtime",
    [
        pytest.param("crun --cgroup-manager=disabled --root=/run/crun", marks=needs("crun"), id="crun"),
        pytest.param("runc --root=/run/runc", marks=needs("runc"), id="runc"),
    ],
)
def test_a_container_is_entered_and_killed_from_outside(simunix: Simunix, open_folder: Path, runtime: str) -> None:
    make = partial(bundle, open_folder / "bundle", "sleep 1000 & echo begun; wait", runtime=runtime.split()[0])
    script = open_folder / "script"
    script.write_text(
        f"""
        {runtime} run --detach --bundle={open_folder}/bundle one
        sleep 1
        {runtime} list
        {runtime} exec one sh -c 'ps -o pid,comm; sleep 1; echo entered'
        {runtime} exec one sleep 1000 &
        sleep 1
        {runtime} kill one KILL
        sleep 1
        wait $!
        echo ended $?
        {runtime} state one | grep -o 'stopped'
        {runtime} delete one
        pgrep -c sleep
        """
    )
    done = twice(simunix, open_folder, make, "sh", str(script))
    for word in ("begun", "running", "    1 sh\n", "entered", "ended 137", "stopped"):
        assert word in done.stdout, (word, done.stdout, done.stderr)
    assert done.stdout.endswith("\n0\n"), done.stdout


@needs("podman", "crun")
def test_podman_asks_the_system_bus_for_a_scope(simunix: Simunix, open_folder: Path) -> None:
    root = open_folder / "image/rootfs"
    places = ("--root=/tmp/storage", "--runroot=/run/podman")
    options = ("--network=host", "--rm", "--security-opt=no-new-privileges")
    command = (
        "podman",
        "--cgroup-manager=systemd",
        *places,
        "run",
        *options,
        "--rootfs",
        str(root),
        "cat",
        "/proc/self/cgroup",
    )
    done = twice(simunix, open_folder, partial(image, open_folder / "image"), "env", "HOME=/tmp", *command)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"0::/machine\.slice/libpod-[0-9a-f]+\.scope/container\n", done.stdout)


@needs("podman", "crun")
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_podman_runs_a_container(simunix: Simunix, open_folder: Path, user: str) -> None:
    root = open_folder / "image/rootfs"
    before = as_user(open_folder) if user == "ordinary" else ("env", "HOME=/tmp")
    places = ("--root=/tmp/storage", "--runroot=/run/podman") if user == "root" else ()
    options = ("--cgroups=disabled", "--network=host", "--rm", "--security-opt=no-new-privileges")
    command = ("podman", "--cgroup-manager=cgroupfs", *places, "run", *options, "--rootfs", str(root), "sh", "-c", COMMAND)
    done = twice(
        simunix, open_folder, partial(image, open_folder / "image", USER if user == "ordinary" else 0), *before, *command
    )
    assert done.returncode == 4, done.stderr
    assert "PID   COMMAND\n    1 sh\n    2 ps\n0\n" in done.stdout and "slept" in done.stdout

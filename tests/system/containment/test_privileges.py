"""Which hosts are contained, what simunix prints about this, and what programs of such hosts notice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from simunix.launch.factory.container import Isolation
from simunix.launch.factory.probe import probe
from tests.conftest import Simunix
from tests.system.runs import run

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or probe((Path("/tmp"),))[0] is not Isolation.CONTAINED,
    reason="only root's hosts are contained, and only where the kernel can map owners of files",
)
LOOK = "cat /proc/self/uid_map; id -u; stat -c %U:%G / /etc/passwd /dev/null /tmp /run; chrt -f 1 true 2>/dev/null; echo $?"
OWNERS = "root:root\n" * 5
CONTAINED = "         0 2147483648 2147483646\n0\n" + OWNERS + "1\n"
PRIVILEGED = "         0          0 4294967295\n0\n" + OWNERS + "0\n"


@pytest.mark.parametrize(
    ("keys", "hosts", "isolation", "privileged"),
    [
        ("", ["", ""], "contained", ""),
        ("", ["", "privileged: true"], "contained", "b"),
        ("privileged: true", ["privileged: false", ""], "contained", "b"),
        ("privileged: true", ["", ""], "all", "a,b"),
    ],
)
def test_hosts_are_contained_unless_they_are_privileged(
    simunix: Simunix, tmp_path: Path, keys: str, hosts: list[str], isolation: str, privileged: str
) -> None:
    sections = [f"  - {{name: {name}, {more}}}\n" for name, more in zip("ab", hosts, strict=True)]
    processes = f"processes: [{{name: p, host: 'a,b', command: {json.dumps(LOOK)}}}]\n"
    (tmp_path / "s.yaml").write_text(f"name: s\n{keys}\nhosts:\n{''.join(sections)}{processes}")
    done = run(simunix, tmp_path / "s.yaml", tmp_path / "out")
    assert done.record["isolation"] == isolation
    assert done.record["privileged"] == privileged
    for host in "ab":
        assert done.output(host, "p") == (PRIVILEGED if host in privileged else CONTAINED)


def output_of(simunix: Simunix, tmp_path: Path, command: str, more: str = "") -> str:
    """What a command prints that a contained host runs."""
    process = f"processes: [{{name: p, host: a, command: {json.dumps(command)}}}]\n"
    (tmp_path / "s.yaml").write_text(f"name: s\nhosts: [{{name: a}}]\n{more}{process}")
    return run(simunix, tmp_path / "s.yaml", tmp_path / "out").output("a", "p")


def single(*words: str, stdout: int = subprocess.PIPE, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*prefix, sys.executable, "-m", "simunix.cli.main", "run", *words]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False)


def test_a_single_command_is_contained_as_well() -> None:
    assert single("--", "cat", "/proc/self/gid_map").stdout.split() == ["0", "2147483648", "2147483646"]
    assert single("--set", "privileged=true", "--", "cat", "/proc/self/uid_map").stdout.split() == ["0", "0", "4294967295"]


def test_where_hosts_cannot_be_contained_that_is_said(tmp_path: Path) -> None:
    """In a user namespace of the caller's own, nobody may map the owners of files."""
    done = single("--out", str(tmp_path / "out"), "--", "true", prefix=("unshare", "--user", "--map-root-user"))
    line = done.stderr.splitlines()[0]
    assert line.startswith("simunix: root of a host is root of this computer (host probe: "), done.stderr
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert record["isolation"] == "all" and record["privileged"] and line.removeprefix("simunix: ") in record["warnings"]


def test_what_is_open_can_be_opened_again(tmp_path: Path) -> None:
    """The kernel would let nobody do so with a pipe or file of another user, which a contained root is."""
    command = "echo a >/dev/stderr; echo b >/dev/stdout; echo c >/proc/self/fd/1; cat </dev/stdin; "
    command += "su -s /bin/sh daemon -c 'exec 2>&-; >/dev/stdout'"
    done = subprocess.run(
        [sys.executable, "-m", "simunix.cli.main", "run", "--", "sh", "-c", command],
        input="d\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.stdout == "b\nc\nd\n" and "a\n" in done.stderr
    assert done.returncode == 2  # of another user, as outside
    with (tmp_path / "file").open("w") as file:
        single("--", "sh", "-c", "echo e; echo f >/dev/stdout; echo g", stdout=file.fileno())
    assert (tmp_path / "file").read_text() == "f\ng\n"  # the shell empties the file


def test_files_that_a_host_makes_belong_to_the_callers_ids(simunix: Simunix, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    command = f"touch {folder}/mine; install -o 1234 -g 77 -m 4755 /bin/true {folder}/others; stat -c %u:%g:%a {folder}/others"
    assert output_of(simunix, tmp_path, command, f"shared: [{folder}]\n") == "1234:77:4755\n"
    made = [(each.name, each.stat().st_uid, each.stat().st_gid) for each in sorted(folder.iterdir())]
    assert made == [("mine", 0, 0), ("others", 1234, 77)]


def test_setuid_programs_gain_what_they_are_to(simunix: Simunix, tmp_path: Path) -> None:
    command = (
        "f=$(mktemp /usr/simunix-XXXXXXXX); cp /usr/bin/id $f; chmod 4755 $f; setpriv --reuid 1234 --clear-groups $f -u; rm $f"
    )
    assert output_of(simunix, tmp_path, command) == "0\n"


def test_a_hard_limit_is_raised_as_outside(simunix: Simunix, tmp_path: Path) -> None:
    """By the server; where its caller may raise none, it is refused inside as well."""
    command = "ulimit -c 0; ulimit -Hc 8 2>/dev/null; ulimit -Hc"
    outside = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False).stdout
    assert output_of(simunix, tmp_path, command) == outside

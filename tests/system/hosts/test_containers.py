"""Where a host's files come from: run directories in odd places and of odd names, links, numbers for users, limits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.launch.factory.container import Bind, ContainerSpec, Isolation, PrivatePath, _Directives
from simunix.roots.tree import THIS_COMPUTER, RootTree
from tests.conftest import Simunix

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs namespaces with all users")
SCENARIO = """
name: odd
hosts: [{name: a1, private: [/var/run/daemon, /var/spool/none/such, /dev/shm/own]}]
processes:
  - name: p
    host: a1
    USER
    command: 'echo one >/var/run/daemon/file; cat /run/daemon/file; echo two >/var/spool/none/such/file;
              cat /var/spool/none/such/file; echo three >/dev/shm/own/file; cat /dev/shm/own/file; id -u; cat /etc/resolv.conf'
"""


@pytest.fixture(params=["/run", "/dev/shm", None])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder to keep a run in: below what hosts have anew, or below a name full of an overlay's own characters."""
    if request.param is None:
        odd = tmp_path / "a,b:c\\d e"
        odd.mkdir()
        yield odd
        return
    if not os.access(request.param, os.W_OK):
        pytest.skip(f"{request.param} is not writable here")
    folder = Path(request.param) / f"simunix-test-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def run(simunix: Simunix, tmp_path: Path, out: Path, user: str) -> tuple[str, str, int]:
    path = tmp_path / "odd.yaml"
    path.write_text(SCENARIO.replace("    USER\n", f"    user: '{user}'\n" if user else ""))
    done = simunix("run", path, "--out", out)
    output = out / "hosts" / "a1" / "p.out"
    return output.read_text() if output.exists() else "", done.stderr, done.returncode


def test_a_run_directory_in_an_odd_place(simunix: Simunix, tmp_path: Path, place: Path) -> None:
    output, errors, code = run(simunix, tmp_path, place / "out", "")
    assert (output, code) == ("one\ntwo\nthree\n0\n", 0), errors


def test_users_may_be_numbers(simunix: Simunix, tmp_path: Path) -> None:
    path = tmp_path / "user.yaml"
    path.write_text(
        "name: user\nhosts: [{name: a1}]\nprocesses: [{name: p, host: a1, user: '54321', command: 'id -u; id -g'}]\n"
    )
    done = simunix("run", path, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "hosts" / "a1" / "p.out").read_text() == "54321\n54321\n"


def test_owners_may_be_numbers(tmp_path: Path) -> None:
    assert THIS_COMPUTER.user("0") == (0, 0)
    assert THIS_COMPUTER.user("54321") == (54321, 54321)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text("slurm:x:64030:64031::/:/bin/sh\n")
    assert RootTree(tmp_path).user("64030") == (64030, 64031) == RootTree(tmp_path).user("slurm")
    assert RootTree(tmp_path).user("7") == (7, 7)
    assert RootTree(tmp_path).user("nobody") is None


def test_too_many_arguments_are_refused_in_one_line(simunix: Simunix) -> None:
    done = simunix("run", "--", "true", *("x" for _ in range(9000)))
    assert done.returncode != 0
    assert "more than 8191 arguments or variables" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_more_started_programs_than_any_table_of_fixed_size_holds(simunix: Simunix, tmp_path: Path) -> None:
    """Each one's end is told by the host's init."""
    path = tmp_path / "many.yaml"
    many = "".join(f"  - {{name: p{number}, host: a1, expect: 3, command: 'sleep 1; exit 3'}}\n" for number in range(1100))
    path.write_text(f"name: many\nhosts: [{{name: a1}}]\nprocesses:\n{many}")
    done = simunix("run", path, "--out", tmp_path / "out", timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "events.jsonl").read_text().count('"status":768') == 1100


def directives(tmp_path: Path, *binds: Bind, private: tuple[PrivatePath, ...] = ()) -> list[str]:
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/run").mkdir()
    (tmp_path / "root/var").mkdir()
    (tmp_path / "root/var/run").symlink_to("/run")
    (tmp_path / "root/etc/resolv.conf").symlink_to("../run/systemd/resolve/stub-resolv.conf")
    tree = RootTree(tmp_path / "root")
    return _Directives(ContainerSpec("a1", tmp_path / "a1", Isolation.ROOT, private, binds, root=tree)).build()


def test_a_file_that_links_into_the_fresh_run_is_made_there(tmp_path: Path) -> None:
    words = directives(tmp_path, Bind(tmp_path / "resolv.conf", "/etc/resolv.conf"))
    target = "/run/systemd/resolve/stub-resolv.conf"
    assert words[words.index(f"place=file {target}") + 1] == f"bind=ro {tmp_path}/resolv.conf\t{target}"


def test_private_paths_are_taken_without_their_links(tmp_path: Path) -> None:
    words = directives(tmp_path, private=(PrivatePath("/var/run/munge", tmp_path / "munge", "7"),))
    assert "directory=755 7 /run/munge" in words
    assert not any("/var/run" in word for word in words)

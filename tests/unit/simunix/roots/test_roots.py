"""Root file systems: paths seen from inside, versions read from outside, and what `root make` refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.roots import host_roots
from simunix.rjms.slurm import configuration
from simunix.rjms.slurm.releases import version
from simunix.roots import debootstrap
from simunix.roots import tree as roots_tree
from simunix.roots.debootstrap import RootRequest, check_request, make_root
from simunix.roots.tree import THIS_COMPUTER, RootTree, open_root
from simunix.scenario.model import Scenario


@pytest.fixture
def tree(tmp_path: Path) -> RootTree:
    """A toy root with the usual links and the strings that versions are read from."""
    for folder in ("usr/bin", "usr/lib/x86_64-linux-gnu/slurm-wlm", "etc", "lib64", "run"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "lib").symlink_to("/usr/lib")
    (tmp_path / "usr/bin/sh").touch()
    (tmp_path / "lib64/ld-linux-x86-64.so.2").touch()
    (tmp_path / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nbroken\nmunge:x:100:101::/:/bin/false\n")
    (tmp_path / "etc/os-release").write_text('NAME=Toy\nPRETTY_NAME="Toy Linux 1"\n')
    libraries = tmp_path / "usr/lib/x86_64-linux-gnu"
    (libraries / "libc.so.6").write_bytes(b"\0GNU C Library (Toy 2.99-1) stable release version 2.99.\n")
    (libraries / "slurm-wlm/libslurmfull.so").write_bytes(b"x\x0012.3\0\x0024.11.5\0")
    return RootTree(tmp_path)


def test_links_are_followed_as_from_inside(tree: RootTree) -> None:
    (tree.path / "etc/link").symlink_to("/etc/passwd")
    (tree.path / "etc/up").symlink_to("../../../../bin/sh")
    assert tree.locate("/etc/link") == tree.path / "etc/passwd"
    assert tree.locate("/etc/up") == tree.path / "usr/bin/sh"
    assert tree.locate("/lib/none/such") == tree.path / "usr/lib/none/such"
    assert tree.has("/bin/sh")
    assert not tree.has("/bin/bash")


def test_links_in_a_circle_are_no_file(tree: RootTree) -> None:
    (tree.path / "etc/circle").symlink_to("circle")
    assert not tree.has("/etc/circle")


def test_what_a_root_says_of_itself(tree: RootTree) -> None:
    assert (tree.release(), tree.glibc(), version(tree)) == ("Toy Linux 1", "2.99", "24.11.5")
    assert (tree.user("munge"), tree.user("nobody")) == ((100, 101), None)
    assert open_root(tree.path).path == tree.path


def test_an_empty_root_says_nothing(tmp_path: Path) -> None:
    tree = RootTree(tmp_path)
    assert (tree.release(), tree.glibc(), version(tree)) == ("unknown", None, None)


def test_this_computer_is_a_root() -> None:
    assert THIS_COMPUTER.glibc() == os.confstr("CS_GNU_LIBC_VERSION").split()[1]  # type: ignore[union-attr]


def test_a_folder_that_is_no_root_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SimunixError, match="no such folder; make one with: simunix root make"):
        open_root(tmp_path / "none")
    with pytest.raises(SimunixError, match="not a root file system of x86-64 Linux: it has no /bin/sh"):
        open_root(tmp_path)
    monkeypatch.setattr(roots_tree, "tracing_is_allowed", lambda: False)
    with pytest.raises(
        SimunixError, match=r"not a root file system .* where ptrace\(2\) is forbidden: it has no /lib64/ld-linux"
    ):
        open_root(tmp_path)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SimunixError, match="not empty; choose another name"):
        check_request(RootRequest("trixie", tmp_path))
    with pytest.raises(SimunixError, match="exists and is not a folder"):
        check_request(RootRequest("trixie", tmp_path / "file"))


@pytest.mark.parametrize("name", ["Slurm", "a,b", "-x", "x y", ""])
def test_bad_package_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SimunixError, match="no name of a Debian package"):
        check_request(RootRequest("trixie", tmp_path, (name,)))


def test_only_root_can_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SimunixError, match="needs root"):
        check_request(RootRequest("trixie", tmp_path))


def test_debootstrap_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SimunixError, match="debootstrap is not installed; as root: apt-get install debootstrap"):
        check_request(RootRequest("trixie", tmp_path))


def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> RootRequest:
    """A debootstrap that runs `script`, where the release is $3 and the folder $4; no namespaces."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "debootstrap").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "debootstrap").chmod(0o755)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "trixie").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setattr(debootstrap, "SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(debootstrap, "NAMESPACES", ())
    return RootRequest("trixie", tmp_path / "made/root", ("munge",))


def test_a_complete_root_appears_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = stub(tmp_path, monkeypatch, 'echo "I: at work"; echo "$1 $2 $3" > "$4/words"')
    said: list[str] = []
    make_root(request, said.append)
    assert (tmp_path / "made/root/words").read_text() == "--variant=minbase --include=munge trixie\n"
    assert said == ["at work"]
    assert [entry.name for entry in (tmp_path / "made").iterdir()] == ["root"]


VIRTUAL = """
case "$*" in
*--include*)
    mkdir "$4/debootstrap"
    echo "dpkg: dependency problems prevent configuration of munge:" >"$4/debootstrap/debootstrap.log"
    echo "W: Failure while configuring base packages."
    exit 1;;
esac
mkdir -p "$3/etc/apt" "$3/usr/sbin" "$3/proc"
"""


def test_packages_with_virtual_dependencies_are_installed_by_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = stub(tmp_path, monkeypatch, VIRTUAL)
    for name, script in {"mount": "", "chroot": 'root=$1; shift; echo "$@" >>"$root/asked"'}.items():
        (tmp_path / "programs" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "programs" / name).chmod(0o755)
    make_root(request)
    root = tmp_path / "made/root"
    asked = ["apt-get -q update", "apt-get -q -y --no-install-recommends install munge"]
    assert (root / "asked").read_text().splitlines() == asked
    assert (root / "etc/apt/sources.list").read_text() == f"deb {request.mirror} trixie main\n"
    assert not (root / "debootstrap").exists() and not (root / "usr/sbin/policy-rc.d").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('echo "E: Failed getting release file http://x/Release"; exit 1', "no network, or http://deb.* try --mirror URL"),
        ('echo "E: Couldn\'t find these debs: munge"; exit 1', "debootstrap: Couldn't find these debs: munge"),
        ("echo 'unshare: unshare failed: Operation not permitted'; exit 1", "making a root needs namespaces"),
        ("exit 1", "debootstrap said nothing"),
    ],
)
def test_a_failure_is_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    request = stub(tmp_path, monkeypatch, f'touch "$4/half"; {script}')
    with pytest.raises(SimunixError, match=words) as caught:
        make_root(request)
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "made").iterdir()) == []


def test_an_unknown_release_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, monkeypatch, "")
    with pytest.raises(SimunixError, match="no release 'trixi'; did you mean 'trixie'"):
        check_request(RootRequest("trixi", tmp_path / "made"))


def test_configuration_files_by_release() -> None:
    assert list(configuration.files("x", (20, 11))) == ["/etc/slurm/slurm.conf"]
    assert b"CgroupPlugin=cgroup/v1" in configuration.files("x", (23, 2))["/etc/slurm/cgroup.conf"]
    newer = configuration.files("x", (24, 11))
    assert newer["/etc/slurm/slurm.conf"] == b"x"
    assert b"CgroupPlugin=disabled" in newer["/etc/slurm/cgroup.conf"]


def test_the_home_of_nobody_is_no_root() -> None:
    scenario = Scenario.model_validate({"hosts": [{"name": "a", "root": "~nobody-of-this-name/root"}]})
    with pytest.raises(SimunixError, match=r"hosts\[0\]\.root: ~nobody-of-this-name/root: no user of that name"):
        host_roots(scenario, Path())

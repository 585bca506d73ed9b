"""The `storages:` section: disks of hosts, and what is wrong with them in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from rsg_server.platform.disk import Disk
from rsg_server.platform.platform import Platform
from rsg_server.storage.volume import Remote
from simunix.launch.plan import HostSpec, MountSpec, PrivateSpec
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

EXAMPLES = Path(__file__).resolve().parents[2] / "rsg_server/platform/simgrid_platforms"
RATES = "read_bandwidth: 100MBps, write_bandwidth: 40MBps"


def platform(folder: Path, *storages: str, hosts: str = "n[0-3]", network: str = "") -> Platform:
    """The platform of a scenario whose storages stand in lines 3 and on."""
    file = folder / "scenario.yaml"
    lines = "".join(f"  - {{{storage}}}\n" for storage in storages)
    file.write_text(f"hosts: [{{name: '{hosts}'}}]\nstorages:\n{lines}{network}")
    return expand(load(file), folder, checked=False).plan.platform


def test_each_host_of_a_list_has_a_storage_of_its_own(tmp_path: Path) -> None:
    more = "readwrite_bandwidth: 120MBps, latency: 5ms, capacity: 2TiB"
    found = platform(tmp_path, f"name: a, host: 'n[0-1]', {RATES}", f"name: b, host: n1, {RATES}, {more}")
    a, b = Disk("a", 1e8, 4e7), Disk("b", 1e8, 4e7, 1.2e8, 0.005, 2 << 40)
    assert [host.disks for host in found.hosts] == [(a,), (a, b), (), ()]
    assert (a.together_bytes_per_s, b.together_bytes_per_s) == (1e8, 1.2e8)


def test_storages_are_added_to_the_disks_of_a_platform_file(tmp_path: Path) -> None:
    network = f"network: {{platform: {EXAMPLES}/hosts_with_disks.xml}}\n"
    found = platform(tmp_path, f"name: more, host: alice, {RATES}", hosts="bob,alice", network=network)
    assert [[disk.name for disk in host.disks] for host in found.hosts] == [["Disk1", "Disk2"], ["Disk1", "more"]]
    with pytest.raises(SimunixError) as caught:
        platform(tmp_path, f"name: Disk1, host: alice, {RATES}", hosts="bob,alice", network=network)
    assert str(caught.value) == (
        f"{tmp_path}/scenario.yaml:2: storages: host alice of the platform file has a disk 'Disk1' already; choose another name"
    )


def test_a_storage_may_be_fair_per_application(tmp_path: Path) -> None:
    found = platform(tmp_path, f"name: a, host: n0, {RATES}, fair_per: application", f"name: b, host: n0, {RATES}")
    assert [disk.fair_per_application for disk in found.hosts[0].disks] == [True, False]


def test_what_is_copied_is_known_with_its_place(tmp_path: Path) -> None:
    """Of what a server exports there is one copy, whoever mounts it."""
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "hosts:\n  - {name: 'n[0-1]', private: [{path: /etc/one, content: copy}, /etc/two]}\n  - {name: fs}\n"
        f"storages: [{{name: a, host: 'n[0-1],fs', {RATES}}}]\nmounts:\n"
        "  - {path: /srv/own, host: 'n[0-1]', storage: a, content: copy}\n"
        "  - {path: /srv/home, host: 'n[0-1]', server: fs, storage: a, content: copy}\n"
        "  - {path: /srv/empty, host: n0, storage: a}\n"
    )
    needs = expand(load(file), tmp_path, checked=False).plan.disk
    assert [(need.where.removeprefix(f"{tmp_path}/"), need.what) for need in needs] == [
        ("scenario.yaml:6: mounts[0].content", "copied from /srv/own of n[0-1]"),
        ("scenario.yaml:7: mounts[1].content", "copied from /srv/home of n0"),
        ("scenario.yaml:2: hosts[0].private[0]", "copied from /etc/one of n[0-1]"),
    ]
    assert [len(need.copies) for need in needs] == [2, 1, 2]


WRONG = {
    "unknown share": (f"name: a, host: n0, {RATES}, fair_per: user", "storages[0].fair_per: "),
    "unknown host": (f"name: a, host: n9, {RATES}", "storages[0].host: 'n9' is not among the hosts; known: n[0-3]"),
    "no write bandwidth": ("name: a, host: n0, read_bandwidth: 1MBps", "storages[0].write_bandwidth: "),
    "no bandwidth": (
        "name: a, host: n0, read_bandwidth: 0MBps, write_bandwidth: 1MBps",
        "read_bandwidth: expected a rate above 0",
    ),
    "negative bandwidth": (
        f"name: a, host: n0, {RATES}, readwrite_bandwidth: -1MBps",
        "readwrite_bandwidth: expected a rate such",
    ),
    "negative latency": (f"name: a, host: n0, {RATES}, latency: -1", "latency: expected a duration such as"),
    "no capacity": (f"name: a, host: n0, {RATES}, capacity: 0", "storages[0].capacity: "),
    "no name": (f"name: '', host: n0, {RATES}", "storages[0].name: expected a name"),
    "unknown key": (f"name: a, host: n0, {RATES}, speed: 1", "storages[0].speed: unknown key"),
    "twice on a host": (
        f"name: a, host: 'n0,n0', {RATES}",
        "storages[0].name: n0 has a storage 'a' already; choose another name",
    ),
}


def assert_one_line(text: str, place: str, message: str) -> None:
    assert text.startswith(place) and message in text and "\n" not in text


@pytest.mark.parametrize(("storage", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_line_with_file_and_line(tmp_path: Path, storage: str, message: str) -> None:
    with pytest.raises(SimunixError) as caught:
        platform(tmp_path, storage)
    assert_one_line(str(caught.value), f"{tmp_path}/scenario.yaml:3: ", message)


def test_a_name_is_given_once_on_a_host(tmp_path: Path) -> None:
    with pytest.raises(SimunixError) as caught:
        platform(tmp_path, f"name: a, host: 'n[0-1]', {RATES}", f"name: a, host: 'n[1-2]', {RATES}")
    assert str(caught.value) == (
        f"{tmp_path}/scenario.yaml:4: storages[1].name: n1 has a storage 'a' already; choose another name"
    )


MOUNT = "path: /mnt/a, host: 'n[0-1]', storage: a"


def mounted(folder: Path, *mounts: str) -> tuple[HostSpec, ...]:
    """The hosts of a scenario with a storage `a` on n0 and n1; its mounts stand in lines 4 and on."""
    file = folder / "scenario.yaml"
    lines = "".join(f"  - {{{mount}}}\n" for mount in mounts)
    storages = f"[{{name: b, host: n1, {RATES}}}, {{name: a, host: 'n[0-1]', {RATES}}}]"
    file.write_text(f"hosts: [{{name: 'n[0-2]'}}]\nstorages: {storages}\nmounts:\n{lines}")
    return expand(load(file), folder, checked=False).plan.hosts


def test_a_mount_is_a_private_path_on_a_storage_of_the_same_host(tmp_path: Path) -> None:
    one, two, three = mounted(tmp_path, MOUNT, "path: /var/tmp/, host: n1, storage: b, content: copy, cache: false")
    assert [host.mounts for host in (one, three)] == [(MountSpec("/mnt/a", 0, False, True),), ()]
    assert two.mounts == (MountSpec("/mnt/a", 1, False, True), MountSpec("/var/tmp", 0))
    assert [MountSpec("/", 0, limited, cached).flags for limited in (False, True) for cached in (False, True)] == [0, 2, 1, 3]
    assert one.private == (PrivateSpec("/mnt/a", mode=0o1777),)
    assert two.private == (PrivateSpec("/mnt/a", mode=0o1777), PrivateSpec("/var/tmp", mode=None, copied=True))


def served(folder: Path, *mounts: str) -> tuple[HostSpec, ...]:
    """The hosts of a scenario whose servers s0 and s1 have a storage `a`; its mounts stand in lines 4 and on."""
    file = folder / "scenario.yaml"
    lines = "".join(f"  - {{{mount}}}\n" for mount in mounts)
    storages = f"[{{name: b, host: s1, {RATES}}}, {{name: a, host: 's[0-1]', {RATES}, capacity: 1TB}}]"
    file.write_text(f"hosts: [{{name: 'n[0-1]'}}, {{name: 's[0-1]'}}]\nstorages: {storages}\nmounts:\n{lines}")
    return expand(load(file), folder, checked=False).plan.hosts


def test_a_file_server_s_storage_has_a_number_behind_the_disks_of_its_clients(tmp_path: Path) -> None:
    one, two, server, other = served(
        tmp_path,
        "path: /home, host: 'n[0-1],s0', server: s0, storage: a, content: copy",
        "path: /mnt/h, host: n0, server: s0, export: /home, storage: a, cache: false",
        "path: /mnt/p, host: 'n0,s1', server: 's[0-1]', storage: a, soft: 3s",
        "path: /mnt/q, host: n0, server: 's[0-1]', storage: a, stripe: 64MiB",
    )
    alone, parallel = Remote((("s0", 0),)), Remote((("s0", 0), ("s1", 1)), 1 << 20, 3 * 10**9)
    other_stripes = Remote((("s0", 0), ("s1", 1)), 64 << 20)
    assert [host.remotes for host in (one, two, server, other)] == [
        (alone, parallel, other_stripes),
        (alone,),
        (),
        (parallel,),
    ]
    assert one.mounts == (
        MountSpec("/home", 0, True, True, True, "s0:/home"),
        MountSpec("/mnt/h", 0, True, False, True, "s0:/home"),
        MountSpec("/mnt/p", 1, True, True, True, "s[0-1]:/mnt/p"),
        MountSpec("/mnt/q", 2, True, True, True, "s[0-1]:/mnt/q"),
    )
    assert server.mounts == (MountSpec("/home", 0, True, True, False, "s0:/home"),)
    assert [mount.storage for mount in other.mounts] == [2]
    assert [mount.record for mount in (*one.mounts[1:2], *server.mounts)] == ["0 5 s0:/home", "0 3"]
    assert {private.export for private in (*one.private[:2], *server.private)} == {"s0:/home"}


WRONG_SERVED = {
    "unknown server": (
        "path: /mnt/m, host: n0, server: s7, storage: a",
        "server: 's7' is not among the hosts; known: n[0-1]",
    ),
    "unknown storage": ("path: /mnt/m, host: n0, server: s0, storage: b", "storage: s0 has no storage 'b'; it has a"),
    "no stripe": ("path: /mnt/m, host: n0, server: 's[0-1]', storage: a, stripe: 0", "mounts[0].stripe: "),
    "stripe of one": (
        "path: /mnt/m, host: n0, server: s0, storage: a, stripe: 1MiB",
        "stripe: works only with several servers, and there is only s0; name more",
    ),
    "soft without server": ("path: /mnt/m, host: s0, storage: a, soft: 1s", "soft: works only with a file server; name one"),
    "export without server": (
        "path: /mnt/m, host: s0, storage: a, export: /m",
        "export: works only with a file server; name one",
    ),
    "server twice": ("path: /mnt/m, host: n0, server: 's0,s0', storage: a", "names a host twice; name each once"),
}


@pytest.mark.parametrize(("mount", "message"), WRONG_SERVED.values(), ids=WRONG_SERVED)
def test_a_wrong_file_server_is_one_line_with_file_and_line(tmp_path: Path, mount: str, message: str) -> None:
    with pytest.raises(SimunixError) as caught:
        served(tmp_path, mount)
    assert_one_line(str(caught.value), f"{tmp_path}/scenario.yaml:4: ", message)


WRONG_AGAIN = {
    "storage: b": "mounts[1].storage: s1:/mnt/m is on a in another mount; name one storage, or another export",
    "server: 's[0-1]', stripe: 2MiB": "mounts[1].stripe: s[0-1]:/mnt/m has stripes of 1048576 bytes in another mount; name one",
}


@pytest.mark.parametrize("key", WRONG_AGAIN)
def test_what_a_server_has_at_a_path_is_on_one_storage(tmp_path: Path, key: str) -> None:
    first = "server: s1, storage: a" if "storage" in key else "server: 's[0-1]', storage: a"
    second = f"server: s1, {key}" if "storage" in key else f"storage: a, {key}"
    with pytest.raises(SimunixError) as caught:
        served(tmp_path, f"path: /mnt/m, host: n0, {first}", f"path: /mnt/m, host: n1, {second}")
    assert_one_line(str(caught.value), f"{tmp_path}/scenario.yaml:5: ", WRONG_AGAIN[key])


WRONG_MOUNTS = {
    "unknown host": ("path: /mnt/a, host: n9, storage: a", "mounts[0].host: 'n9' is not among the hosts; known: n[0-2]"),
    "unknown storage": ("path: /mnt/a, host: n1, storage: c", "mounts[0].storage: n1 has no storage 'c'; it has b, a"),
    "storage elsewhere": (
        "path: /mnt/a, host: n2, storage: a",
        "mounts[0].storage: n2 has no storage 'a'; add one under storages, with host: n2",
    ),
    "relative path": ("path: mnt, host: n1, storage: a", "mounts[0].path: expected absolute paths below /"),
    "the root": ("path: /, host: n1, storage: a", "mounts[0].path: expected absolute paths below /"),
    "path twice": ("path: /mnt/a, host: 'n1,n1', storage: a", "mounts[0].path: n1 has a mount at /mnt/a already; choose"),
    "no storage": ("path: /mnt/a, host: n1", "mounts[0].storage: "),
    "unknown content": (f"{MOUNT}, content: some", "mounts[0].content: "),
    "in /proc": ("path: /proc/x, host: n1, storage: a", "path: /proc is the kernel's on each host; choose a path elsewhere"),
    "/sys": ("path: /sys, host: n1, storage: a", "path: /sys is the kernel's on each host; choose a path elsewhere"),
    "/dev": ("path: /dev, host: n1, storage: a", "path: hosts have a /dev of their own; choose a path elsewhere"),
    "in simunix's folder": ("path: /run/simunix/x, host: n1, storage: a", "path: hosts have a /run of their own; choose"),
    "what programs need": (
        "path: /usr, host: n1, storage: a",
        "path: n1 cannot run programs without what is in /usr; write content: copy, or choose another path",
    ),
    "what simunix writes": ("path: /etc, host: n1, storage: a, content: copy", "path: hosts have files of their own in /etc"),
    "a file": ("path: /etc/passwd, host: n1, storage: a", "path: /etc/passwd is a file in the root of n1; choose a folder"),
    "new in the root": (
        "path: /not-there/a, host: n1, storage: a",
        "path: neither /not-there/a nor a folder above it exists in the root of n1; create one, or choose a path below",
    ),
    "a long name": (f"path: /mnt/{'x' * 256}, host: n1, storage: a", "path: a part of a path has 255 bytes at most; this one"),
    "a control character": ('path: "/mnt/a\\nb", host: n1, storage: a', "path: expected a path without control characters"),
}


@pytest.mark.parametrize(("mount", "message"), WRONG_MOUNTS.values(), ids=WRONG_MOUNTS)
def test_a_wrong_mount_is_one_line_with_file_and_line(tmp_path: Path, mount: str, message: str) -> None:
    with pytest.raises(SimunixError) as caught:
        mounted(tmp_path, mount)
    assert_one_line(str(caught.value), f"{tmp_path}/scenario.yaml:4: ", message)


def test_a_host_has_so_many_mounts_at_most(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r":20: mounts\[16\]: n0 has 16 mounts already, as many as a host can have"):
        mounted(tmp_path, *(f"path: /mnt/{number}, host: n0, storage: a" for number in range(17)))

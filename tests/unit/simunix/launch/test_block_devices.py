"""A host with storages shows its disks in /sys."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from rsg_server.platform.disk import Disk
from rsg_server.platform.host import Host
from simunix.launch.view.block_devices import block_binds


def host(*disks: Disk) -> Host:
    return Host("n", (ip_address("10.0.0.1"),), disks=disks)


def test_each_storage_is_a_disk_behind_that_of_the_host(tmp_path: Path) -> None:
    it = host(Disk("a", 1.0, 1.0, capacity_bytes=1 << 30), Disk("b", 1.0, 1.0))
    binds = block_binds(tmp_path, it, True)
    assert [bind.target for bind in binds] == ["/sys/block", "/sys/class/block", "/sys/dev/block"]
    block, by_class, numbers = (bind.source for bind in binds)
    assert sorted(path.name for path in block.iterdir()) == ["sda", "sdb", "sdc"]
    assert (block / "sdb/size").read_text() == f"{(1 << 30) // 512}\n"
    assert (block / "sdc/size").read_text() == f"{it.disk_bytes // 512}\n", "as df has it"
    assert (block / "sdc/dev").read_text() == "8:32\n"
    assert (block / "sdb/device").is_dir(), "iostat takes nothing else for a disk"
    assert (by_class / "sdb").readlink() == Path("../../block/sdb")
    assert (numbers / "8:16").readlink() == Path("../../block/sdb")


def test_hosts_with_disks_of_equal_sizes_share_the_files(tmp_path: Path) -> None:
    disk = Disk("a", 1.0, 1.0)
    assert block_binds(tmp_path, host(disk), True) == block_binds(tmp_path, host(Disk("b", 2.0, 2.0)), True)
    assert block_binds(tmp_path / "other", host(disk), False) == ()
    assert len([*tmp_path.iterdir()]) == 1


def test_a_host_without_storages_has_its_own_disk_and_nothing_of_this_computer_s(tmp_path: Path) -> None:
    block = block_binds(tmp_path, host(), True)[0].source
    assert [path.name for path in block.iterdir()] == ["sda"]
    assert "partition" not in {path.name for path in (block / "sda").iterdir()}


def test_many_disks_have_names_of_two_letters(tmp_path: Path) -> None:
    block = block_binds(tmp_path, host(*(Disk(f"d{number}", 1.0, 1.0) for number in range(60))), True)[0].source
    names = {path.name for path in block.iterdir()}
    assert len(names) == 61
    assert {"sda", "sdz", "sdaa", "sdaz", "sdba", "sdbi"} <= names

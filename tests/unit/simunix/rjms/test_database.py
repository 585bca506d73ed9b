"""slurmdbd and MariaDB in a plan: what the section asks for, what is missing, what the daemons are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.rjms.slurm import configuration, database
from simunix.rjms.slurm.database import Database
from simunix.rjms.slurm.section import SlurmSection
from simunix.roots.tree import RootTree

ASKED = {"controller": "ctl", "nodes": "n[1-2]", "accounting_storage_type": "slurmdbd"}
CONF = {"accountingstoragetype": "accounting_storage/slurmdbd", "accountingstoragehost": "ctl", "clustername": "simunix"}


def section(**values: object) -> SlurmSection:
    return SlurmSection.model_validate({**ASKED, **values})


def toy_root(folder: Path, *programs: str) -> RootTree:
    """A root with these programs and two users."""
    for name in ("/etc/passwd", *programs):
        file = folder / name[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("root:x:0:0::/root:/bin/sh\nmysql:x:77:78::/nonexistent:/bin/false\n")
    return RootTree(folder)


def test_both_daemons_run_where_the_section_says() -> None:
    assert database.of_section(section(accounting_storage_type="none"), "slurm", {}) is None
    assert database.of_section(section(), "slurm", {}) == Database("simunix", "ctl", "ctl")
    assert database.of_section(section(accounting_storage_host="a"), "slurm", {}) == Database("simunix", "a", "a")
    assert database.of_section(section(storage_host="b"), "slurm", {}) == Database("simunix", "ctl", "b")


def test_a_shared_slurmdbd_is_started_by_another_cluster(tmp_path: Path) -> None:
    shared = database.of_section(section(accounting_storage_host="a", accounting_storage_shared=True), "slurm", {})
    assert shared == Database("simunix", "a", "a", shared=True)
    planned = database.plan(shared, "slurm", "ctl", {"a": toy_root(tmp_path)}, is_root=True)
    assert [process.name for process in planned.processes] == ["slurmctld"] and not planned.files + planned.private
    for wrong, key in (
        ({"accounting_storage_host": "a", "storage_host": "b"}, "storage_host"),
        ({}, "accounting_storage_host"),
    ):
        with pytest.raises(SimunixError, match=rf"slurm\.{key}: with accounting_storage_shared another cluster starts"):
            database.of_section(section(accounting_storage_shared=True, **wrong), "slurm", {})


def test_the_plugin_may_be_spelled_as_in_slurm_conf() -> None:
    assert section(accounting_storage_type="accounting_storage/slurmdbd") == section()


def test_the_users_own_slurm_conf_must_agree(tmp_path: Path) -> None:
    own = section(config=tmp_path / "slurm.conf")
    assert database.of_section(own, "slurm", CONF) == Database("simunix", "ctl", "ctl")
    other = {**CONF, "accountingstoragehost": "elsewhere"}
    assert database.of_section(own, "slurm", other) == Database("simunix", "elsewhere", "elsewhere")
    for wrong, words in (
        ({**CONF, "accountingstoragetype": "accounting_storage/none"}, "AccountingStorageType is accounting_storage/none, but"),
        (
            {"accountingstoragetype": CONF["accountingstoragetype"]},
            "AccountingStorageHost is localhost, but ctl for the section",
        ),
        ({**CONF, "clustername": "other"}, "ClusterName is other, but simunix for the section; make them agree"),
    ):
        with pytest.raises(SimunixError, match=words):
            database.of_section(own, "slurm", wrong)
    with pytest.raises(SimunixError, match=r"slurm\.accounting_storage_enforce: belongs into .*slurm\.conf"):
        database.of_section(own.model_copy(update={"accounting_storage_enforce": "limits"}), "slurm", CONF)


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ((), "no /usr/sbin/slurmdbd in the root .* of ctl; make it with slurmdbd"),
        ((database.SLURMDBD,), "no /usr/sbin/mariadbd in the root .* of ctl; make it with mariadb-server"),
        ((database.SLURMDBD, database.MARIADBD), "no /usr/bin/mariadb-install-db in the root"),
    ],
)
def test_a_missing_package_is_named(tmp_path: Path, programs: tuple[str, ...], words: str) -> None:
    roots = {"ctl": toy_root(tmp_path, *programs)}
    with pytest.raises(SimunixError, match=f"^slurm.accounting_storage_type: {words}"):
        database.plan(Database("simunix", "ctl", "ctl"), "slurm", "ctl", roots, True)


@pytest.mark.parametrize(("is_root", "user", "owner"), [(True, "mysql", "mysql"), (False, "root", "")])
def test_mariadbd_runs_as_its_own_user_where_there_are_users(tmp_path: Path, is_root: bool, user: str, owner: str) -> None:
    root = toy_root(tmp_path, database.SLURMDBD, database.MARIADBD, database.INSTALL)
    plan = database.plan(Database("simunix", "dbd", "db"), "slurm", "ctl", {"dbd": root, "db": root}, is_root)
    mariadbd = plan.processes[0]
    assert f"--user={user} " in mariadbd.argv[2]
    assert {spec.owner for spec in plan.private} == {owner}
    assert [(process.name, process.host) for process in plan.processes] == [
        ("mariadbd", "db"),
        ("slurmdbd", "dbd"),
        ("slurmctld", "ctl"),
    ]


@pytest.mark.parametrize(("version", "is_told"), [("10.5.23", True), ("10.11.19", False), ("11.8.3", False), (None, False)])
def test_mariadb_10_5_is_told_not_to_wait_in_a_loop(tmp_path: Path, version: str | None, is_told: bool) -> None:
    root = toy_root(tmp_path, database.SLURMDBD, database.MARIADBD, database.INSTALL)
    if version is not None:
        root.locate(database.MARIADBD).write_bytes(b"\x7fELF\0" + f"{version}-MariaDB-0+deb11u1\0 10.1.1-MariaDB".encode())
    plan = database.plan(Database("simunix", "dbd", "db"), "slurm", "ctl", {"dbd": root, "db": root}, True)
    assert ("--innodb-log-file-size=64M --innodb-flush-sync=OFF\n" in plan.processes[0].argv[2]) == is_told


def test_only_its_owner_may_read_slurmdbd_conf(tmp_path: Path) -> None:
    root = toy_root(tmp_path, database.SLURMDBD, database.MARIADBD, database.INSTALL)
    plan = database.plan(Database("simunix", "dbd", "db"), "slurm", "ctl", {"dbd": root, "db": root}, True)
    conf = next(file for file in plan.files if file.path == "/etc/slurm/slurmdbd.conf")
    assert (conf.host, conf.mode, conf.owner) == ("dbd", 0o600, "root")
    assert b"\nDbdHost=dbd\n" in conf.content and b"\nStorageHost=db\n" in conf.content


def test_slurmdbd_authenticates_as_slurmctld_does(tmp_path: Path) -> None:
    """By slurm.conf of one's own, by a parameter of the section, or by munge."""
    root = toy_root(tmp_path, database.SLURMDBD, database.MARIADBD, database.INSTALL)
    for asked, settings, auth in (
        (section(), {}, "auth/munge"),
        (section(config=tmp_path / "slurm.conf"), {**CONF, "authtype": "auth/none"}, "auth/none"),
        (section(parameters={"AUTHTYPE": "auth/none"}), {}, "auth/none"),
        (section(parameters={"AuthType": None}), {}, "auth/munge"),
    ):
        wanted = database.of_section(asked, "slurm", settings)
        assert wanted is not None and wanted.auth == auth
        plan = database.plan(wanted, "slurm", "ctl", {"ctl": root}, True)
        conf = next(file for file in plan.files if file.path == "/etc/slurm/slurmdbd.conf")
        assert f"\nAuthType={auth}\n".encode() in conf.content


def test_slurm_conf_names_the_host_of_slurmdbd() -> None:
    cluster = configuration.SlurmCluster("c", "ctl", "10.0.0.1", (), dbd="dbd", enforce="associations,limits")
    lines = configuration.slurm_conf(cluster).splitlines()
    assert {
        "AccountingStorageType=accounting_storage/slurmdbd",
        "AccountingStorageHost=dbd",
        "AccountingStorageEnforce=associations,limits",
    } <= set(lines)
    plain = configuration.slurm_conf(configuration.SlurmCluster("c", "ctl", "10.0.0.1", ()))
    assert [line for line in plain.splitlines() if line.startswith("Accounting")] == [
        "AccountingStorageType=accounting_storage/none"
    ]


def test_what_sacctmgr_is_told_is_quoted_for_the_shell() -> None:
    asked = section(sacctmgr=["add account physics Description='the physicists; all'", "sacctmgr -i add user daemon"])
    found = database.of_section(asked, "slurm", {})
    assert found is not None
    assert found.sacctmgr == ("add account physics 'Description=the physicists; all'", "-i add user daemon")
    with pytest.raises(SimunixError, match=r"slurm\.sacctmgr: add account 'a: No closing quotation; write it as for sacctmgr"):
        database.of_section(section(sacctmgr=["add account 'a"]), "slurm", {})

"""The scenario made from a site's files, the reported changes, and errors in these files."""

from __future__ import annotations

import contextlib
import struct
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.rjms.scenario import load
from simunix.rjms.slurm.beside import devices, will_drain
from simunix.rjms.slurm.files.lines import joined, read_lines
from simunix.rjms.slurm.site.accounts import account_commands, qos_commands
from simunix.rjms.slurm.site.conf import read_conf
from simunix.rjms.slurm.site.fair_share import usage_of
from simunix.rjms.slurm.site.reservations import reservation_commands
from simunix.rjms.slurm.site.sacct_jobs import read_jobs
from simunix.rjms.slurm.site.submit_lines import submit_options
from simunix.rjms.slurm.site.write import SiteFiles, divided, import_site
from simunix.rjms.slurm.usage import check_release, shell_lines
from tests.conftest import ROOT

SITES = ROOT / "tests/sites"


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(("site", "nodes", "cores"), [("university", 3, 8), ("large", 24, 64), ("included", 4, 8)])
def test_a_site_becomes_a_scenario_that_is_sound(tmp_path: Path, site: str, nodes: int, cores: int) -> None:
    found = import_site(SiteFiles(SITES / site / "slurm.conf"), tmp_path / "out")
    assert found.nodes == nodes
    scenario = load(tmp_path / "out/scenario.yaml")
    assert scenario.hosts[-1].cores == (128 if site == "large" else cores)
    conf = (tmp_path / "out/slurm.conf").read_text()
    assert ("proctrack/cgroup" in conf) == (site == "university") and "Include" not in conf and "FUTURE" not in conf
    assert (tmp_path / "out/changes.txt").read_text().count("\n") == len(found.changes)
    assert devices(tmp_path / "out/slurm.conf", conf, ["gpu1"]) == (
        {"gpu1": ("/dev/nvidia0", "/dev/nvidia1")} if site == "university" else {}
    )
    assert list(will_drain(tmp_path / "out/slurm.conf", conf, ["gpu1"])) == []


def test_a_gpu_without_a_file_is_said_with_its_line(tmp_path: Path) -> None:
    written(tmp_path / "slurm.conf", "SlurmctldHost=c\nGresTypes=gpu\nNodeName=n1 Gres=gpu:2\n")
    written(tmp_path / "gres.conf", "# GPUs\nNodeName=n1 Name=gpu Count=2\n")
    found = import_site(SiteFiles(tmp_path / "slurm.conf"), tmp_path / "out")
    place = f"{tmp_path}/gres.conf:2"
    assert [each.reason[:44] for each in found.changes if each.place == place] == [
        "kept, but without File= slurmd drains such a"
    ]
    assert len(list(will_drain(tmp_path / "out/slurm.conf", (tmp_path / "out/slurm.conf").read_text(), ["n1"]))) == 1


def test_every_change_has_its_place_and_reason() -> None:
    conf = read_conf(SITES / "large/slurm.conf")
    told = [f"{Path(each.place).name}: {each.what}: {each.reason}" for each in conf.changes]
    assert told == [
        "slurm.conf:4: SlurmctldHost=atlas-mgmt2: left out: there is one controller",
        "slurm.conf:5: SlurmUser=slurm: root: a user that every host has",
        "slurm.conf:6: StateSaveLocation=/shared/slurm/state: /var/spool/slurmctld: a path of the emulated hosts instead",
        "slurm.conf:7: SlurmdSpoolDir=/var/spool/slurmd.%n: /var/spool/slurmd: a path of the emulated hosts instead",
        "slurm.conf:14: HealthCheckProgram=/usr/sbin/nhc: left out: scripts of the site are not run",
        "slurm.conf:15: HealthCheckInterval=300: left out: scripts of the site are not run",
        "slurm.conf:16: SuspendProgram=/usr/local/sbin/poweroff: left out: nodes are always on",
        "slurm.conf:17: ResumeProgram=/usr/local/sbin/poweron: left out: nodes are always on",
        "slurm.conf:18: SuspendTime=600: left out: nodes are always on",
        "slurm.conf:23: NodeName=x[01-99] State=FUTURE: left out: not there yet",
    ]


def test_included_files_are_named_in_messages(tmp_path: Path) -> None:
    written(tmp_path / "slurm.conf", "SlurmctldHost=c\nInclude nodes.conf\n")
    with pytest.raises(SimunixError, match=r"slurm.conf:2: include nodes.conf: no such file beside it; put a copy into"):
        read_conf(tmp_path / "slurm.conf")
    written(tmp_path / "nodes.conf", "\n\nNodeName=n[1-\n")
    with pytest.raises(SimunixError, match=r"nodes.conf:3: NodeName: host list"):
        read_conf(tmp_path / "slurm.conf")
    written(tmp_path / "nodes.conf", "NodeName=n1 \\\nCPUs=many\n")
    with pytest.raises(SimunixError, match=r"nodes.conf:1: cpus: expected a whole number, got 'many'"):
        read_conf(tmp_path / "slurm.conf")
    written(tmp_path / "nodes.conf", "Include slurm.conf\n")
    with pytest.raises(SimunixError, match="include each other more than 8 deep"):
        read_conf(tmp_path / "slurm.conf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ClusterName=c\nNodeName=n1\n", "no SlurmctldHost"),
        ("SlurmctldHost=c\n", "no NodeName"),
        ("SlurmctldHost=c\nwhat is this\n", ":2: expected Name=value, got 'what is this'"),
        ("SlurmctldHost=c\nFrontendName=f\n", "no NodeName; a cluster needs nodes"),
    ],
)
def test_what_is_no_slurm_conf_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SimunixError) as refused:
        read_conf(written(tmp_path / "slurm.conf", text))
    assert message in str(refused.value)


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "slurm.conf"
    path.write_bytes(text.encode())
    for read in (
        lambda: list(read_lines(path, "x")),
        lambda: read_conf(path),
        lambda: account_commands(path, []),
        lambda: qos_commands(path, []),
    ):
        with contextlib.suppress(SimunixError):
            read()  # type: ignore[no-untyped-call]


@given(st.lists(st.from_regex(r"[A-Za-z]{1,5}=[a-z0-9]{0,5}", fullmatch=True), min_size=1, max_size=5))
def test_joined_lines_are_the_line_that_they_were(words: list[str]) -> None:
    assert [text.split() for _, text in joined(" \\\n".join(words) + " # more\n")] == [words]


def test_accounts_and_qos_become_commands() -> None:
    changes: list[object] = []
    accounts = account_commands(SITES / "university/accounts.cfg", changes)  # type: ignore[arg-type]
    assert (
        accounts[0]
        == "add account physics Parent=root Description=physics Organization=science Fairshare=60 QosLevel=high,normal"
    )
    assert accounts[-1] == "add user bob Account=chem DefaultAccount=chem Fairshare=1 MaxJobs=20 QosLevel=low,normal"
    qos = qos_commands(SITES / "university/qos.txt", changes)  # type: ignore[arg-type]
    assert qos[:2] == ["add qos low", "add qos high"] and "Preempt=low" in qos[3]
    early, late = divided([*qos, "add account p GrpTRES=gres/gpu=4 Fairshare=2"])
    assert late == [qos[3], "modify account where name=p set GrpTRES=gres/gpu=4"]
    assert early[-1] == "add account p Fairshare=2"


def test_jobs_of_sacct_with_arrays_requeues_and_submit_lines() -> None:
    changes: list[object] = []
    trace = read_jobs(SITES / "university/jobs.txt", changes)  # type: ignore[arg-type]
    assert trace.jobs["JobID"].tolist() == ["501", "502_1", "502_2", "502_3", "503", "504", "505", "506"]
    again = trace.jobs.set_index("JobID").loc["504"]
    assert (again["submit_s"], again["runtime_s"], again["Requeue"]) == (300, 120, "yes")
    assert trace.jobs["Dependency"].tolist()[4] == "afterany:502"
    assert len(changes) == 2


@pytest.mark.parametrize(
    ("line", "expected", "left"),
    [
        (
            "sbatch -N2 --exclusive -d afterok:7 -H x.sh -n9",
            {"ReqNodes": "2", "Exclusive": "yes", "Dependency": "afterok:7", "Hold": "yes"},
            [],
        ),
        ("sbatch --mem-per-cpu=2G --time 10 --no-requeue a", {"ReqMem": "2Gc", "Requeue": "no"}, []),
        ("srun --parsable -c 4 hostname", {"CPUsPerTask": "4"}, []),
        ("sbatch --begin=2024-03-01T10:01:40 --nice a", {"Begin": "+100", "Nice": "100"}, []),
        ("sbatch --begin now+1hour --bbf stage.txt a", {}, ["--begin", "--bbf"]),
        (
            "sbatch --contiguous -w n[1-2] --switches 1@60 a",
            {"Arguments": "--contiguous '--nodelist=n[1-2]' --switches=1@60"},
            [],
        ),
        ("sbatch --mem=lots --gpus 2 a", {}, ["--mem"]),
        ("sbatch 'unclosed", {}, ["a quotation that does not end"]),
    ],
)
def test_a_submit_line_says_what_accounting_does_not(line: str, expected: dict[str, str], left: list[str]) -> None:
    assert submit_options(line, "2024-03-01T10:00:00") == (expected, left)


def test_what_a_submit_line_says_and_no_column_has_is_counted(tmp_path: Path) -> None:
    changes: list[object] = []
    job = "|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-01T10:01:00|COMPLETED|60|1|1|"
    text = "JobID|Submit|Start|End|State|ElapsedRaw|ReqCPUS|AllocCPUS|ReqTRES|ReqMem|SubmitLine\n"
    text += "".join(f"{number}{job}|0|sbatch --bbf=b x\n" for number in (1, 2))
    read_jobs(written(tmp_path / "j.txt", text), changes)  # type: ignore[arg-type]
    assert [(change.what, change.reason) for change in changes] == [  # type: ignore[attr-defined]
        ("2 submit lines with --bbf", "left out: the job table has no column for it, or not for its value")
    ]


def test_reservations_keep_their_distance_to_the_first_job(tmp_path: Path) -> None:
    changes: list[object] = []
    first = datetime(2024, 3, 1, 8, tzinfo=UTC).timestamp()
    commands = reservation_commands(SITES / "university/reservations.txt", first, changes)  # type: ignore[arg-type]
    words = "ReservationName=course StartTime=now+720seconds Duration=78 Nodes=gpu1 PartitionName=gpu Flags=IGNORE_JOBS"
    assert commands == [f"scontrol create reservation {words} Users=alice,bob"]
    assert [change.what for change in changes] == ["reservation over"]  # type: ignore[attr-defined]
    for text, message in (
        ("NodeCnt=1\n", ":1: expected ReservationName=…, got 'NodeCnt=1'"),
        ("\nReservationName=a StartTime=x EndTime=y\n", ":2: expected StartTime and EndTime such as"),
    ):
        with pytest.raises(SimunixError) as refused:
            reservation_commands(written(tmp_path / "r.txt", text), first, [])
        assert message in str(refused.value)


def test_usage_is_that_of_the_associations_that_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = ["add account p Parent=root", "add user ann Account=P Fairshare=1", "add user ann Account=p Partition=x"]
    changes: list[object] = []
    text = "Account|User|Partition|RawUsage\nroot|||600\n p|||500\n  p|ann||400\n  p|ann|x|50.5\n  p|ben||7\n  p|cy||0\n"
    assert usage_of(written(tmp_path / "u.txt", text), commands, changes) == {"p": {"ann": 450.5}}  # type: ignore[arg-type]
    assert [change.what for change in changes] == ["usage of 1 users"]  # type: ignore[attr-defined]
    for wrong, message in (
        ("Account|User\n", ":1: column RawUsage is missing; give what sshare -a -P -o Account,User,RawUsage prints"),
        ("Account|User|RawUsage\np|ann\n", ":2: expected 3 fields, got 2"),
        ("Account|User|RawUsage\np|ann|lots\n", ":2: RawUsage: expected a number, got 'lots'"),
    ):
        with pytest.raises(SimunixError) as refused:
            usage_of(written(tmp_path / "u.txt", wrong), commands, [])
        assert message in str(refused.value)
    words = [
        "slurm",
        "import",
        str(SITES / "large/slurm.conf"),
        "--usage",
        str(tmp_path / "u.txt"),
        "-o",
        str(tmp_path / "out"),
    ]
    assert (
        main(words) == 2 and "AccountingStorageType is not slurmdbd, which accounts and usage need" in capsys.readouterr().err
    )


def test_the_file_of_usage_is_what_slurmctld_reads(tmp_path: Path) -> None:
    associations = "1|root|\n2|root|root\n70000|physics|alice\n70001|physics|alice\n5|chem|bob\n"
    sacctmgr = written(tmp_path / "sacctmgr", f"#!/bin/sh\nprintf '{associations}'\n")
    sacctmgr.chmod(0o755)
    script = shell_lines({"physics": {"alice": 1234567.25}, "chem": {"bob": 8e10}}, str(tmp_path), str(sacctmgr))
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    found = (tmp_path / "assoc_usage").read_bytes()
    expected = b"".join(
        struct.pack(f">II{len(raw) + 1}sII", number, len(raw) + 1, raw, 0, 0)
        for number, raw in ((70000, b"1234567.250000"), (5, b"80000000000.000000"))
    )
    assert (found[:2], found[10:]) == (struct.pack(">H", 38 << 8), expected)
    assert abs(struct.unpack(">q", found[2:10])[0] - time.time()) < 600
    script = shell_lines({"physics": {"carl": 1.0}}, str(tmp_path), str(sacctmgr))
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "usage: no association of carl with physics\n")
    assert shell_lines({}, str(tmp_path), "x") == ""
    with pytest.raises(
        SimunixError, match=r"slurm.usage: simunix knows only the usage file of Slurm 22.05, here is 24.11; take usage out"
    ):
        check_release({"physics": {"alice": 1.0}}, (24, 11), "slurm")


def test_scripts_beside_slurm_conf_go_along_when_they_are_asked_for(tmp_path: Path) -> None:
    words = ["slurm", "import", str(SITES / "university/slurm.conf"), "--output"]
    assert main([*words, str(tmp_path / "without")]) == main([*words, str(tmp_path / "with"), "--scripts"]) == 0
    assert "prolog" not in (tmp_path / "without/slurm.conf").read_text().lower().replace("prologflags", "")
    conf = (tmp_path / "with/slurm.conf").read_text()
    assert "Prolog=/etc/slurm/prolog.sh\n" in conf and "JobSubmitPlugins=lua\n" in conf and "Epilog" not in conf
    assert {"prolog.sh", "job_submit.lua"} <= {path.name for path in (tmp_path / "with").iterdir()}
    assert "Epilog=/etc/slurm/epilog.sh: left out" in (tmp_path / "with/changes.txt").read_text()  # there is no such file


def test_reservations_need_jobs_to_be_placed_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["slurm", "import", str(SITES / "university/slurm.conf"), "--reservations", str(tmp_path / "r.txt")]
    assert main([*words, "--output", str(tmp_path / "out")]) == 2
    assert "the times of reservations are counted from the first job: give --sacct as well" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_json_of_two_releases_is_read_as_the_text_is() -> None:
    """accounting-22.05.json is what Slurm 22.05 printed; the other has the same jobs, put into the form of 24.11 by hand."""
    traces = []
    for name in ("accounting-22.05.json", "accounting-24.11.json"):
        changes: list[object] = []
        traces.append(read_jobs(SITES / "json" / name, changes).jobs)  # type: ignore[arg-type]
        told = [change.what for change in changes]  # type: ignore[attr-defined]
        assert told[:2] == ["3 steps", "1 jobs that had not ended"]
    old, new = traces
    assert old["JobID"].tolist() == ["1_2", "2", "1_1", "4"]
    assert old["runtime_s"].tolist()[:3] == [10, 20, 10] and old["State"].tolist()[1] == "FAILED"
    assert (old["ExitCode"].tolist()[1], new["ExitCode"].tolist()[1]) == ("1:0", "3:0")  # 22.05 prints 0
    assert (new["Nice"].tolist()[0], new["ReqMem"].tolist()[1], new["requested_s"].tolist()[1]) == ("5", "2000Mc", 300)
    same = ["JobID", "submit_s", "runtime_s", "requested", "requested_s", "NodeList", "State"]
    assert old[same].equals(new[same])


def test_sacct_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    head = "JobID|Submit|Start|End|State\n"
    for text, message in (
        ('{"jobs": []}', "no jobs; run sacct with -S and -E"),
        ('{"jobs"', ":1: no JSON: Expecting ':' delimiter; give what sacct --json prints"),
        ('{"jobs": [{"time": 1}]}', "job 1 of the list `jobs` is none of sacct's: KeyError: 'required'"),
        ("JobID|State\n1|COMPLETED\n", ":1: column Submit is missing"),
        (head, "no jobs"),
        (head + "1|2024-01-01T00:00:00|x\n", ":2: expected 5 fields as in the first line, got 3"),
        (head + "1|today|Unknown|Unknown|PENDING\n", ":2: Submit: expected a date"),
    ):
        with pytest.raises(SimunixError) as refused:
            read_jobs(written(tmp_path / "j.txt", text), [])
        assert message in str(refused.value)


def test_the_command_prints_every_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["slurm", "import", str(SITES / "university/slurm.conf"), "--output", str(out)]) == 0
    told = capsys.readouterr().out
    assert told.startswith((out / "changes.txt").read_text()) and "3 nodes, 0 jobs" in told
    assert "workload" not in yaml.safe_load((out / "scenario.yaml").read_text())
    assert main(["slurm", "import", str(SITES / "university/slurm.conf"), "--output", str(out)]) == 2
    assert "there already" in capsys.readouterr().err
    site = str(SITES / "large/slurm.conf")
    assert main(["slurm", "import", site, "-o", str(tmp_path / "b"), "--accounts", str(SITES / "university/accounts.cfg")]) == 2
    assert "AccountingStorageType is not slurmdbd" in capsys.readouterr().err


def test_a_cgroup_conf_goes_along_for_version_2(tmp_path: Path) -> None:
    written(tmp_path / "slurm.conf", "SlurmctldHost=c\nTaskPlugin=task/cgroup\nNodeName=n1\n")
    lines = "ConstrainCores=yes AllowedRAMSpace=95\nCgroupPlugin=cgroup/v1\nCgroupMountpoint=/cgroup\n"
    written(tmp_path / "cgroup.conf", lines)
    found = import_site(SiteFiles(tmp_path / "slurm.conf"), tmp_path / "out")
    text = (tmp_path / "out/cgroup.conf").read_text()
    assert text == "ConstrainCores=yes\nAllowedRAMSpace=95\nCgroupPlugin=cgroup/v2\n"
    told = [f"{Path(each.place).name}: {each.what}: {each.reason}" for each in found.changes if "cgroup" in each.place]
    assert told == [
        "cgroup.conf:2: CgroupPlugin=cgroup/v1: cgroup/v2: hosts have cgroups of version 2",
        "cgroup.conf:3: CgroupMountpoint=/cgroup: left out: hosts have their cgroups where Slurm looks for them",
    ]


def test_a_cgroup_conf_that_hosts_can_have_stays_as_it_is(tmp_path: Path) -> None:
    written(tmp_path / "slurm.conf", "SlurmctldHost=c\nTaskPlugin=task/cgroup\nNodeName=n1\n")
    text = "CgroupPlugin=autodetect\nCgroupMountpoint=/sys/fs/cgroup/\nConstrainCores=yes\n"
    written(tmp_path / "cgroup.conf", text)
    found = import_site(SiteFiles(tmp_path / "slurm.conf"), tmp_path / "out")
    assert (tmp_path / "out/cgroup.conf").read_text() == text
    assert not [each for each in found.changes if "cgroup" in each.place]


def test_gpus_and_numa_nodes_of_a_site_are_those_of_its_hosts(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-2] Sockets=4 CoresPerSocket=2 Gres=gpu:nvidia_a100:4(S:0-3),gpu:1080:1,nic:1\n"
    nodes += "NodeName=big Gres=gpu:5000\n"
    written(tmp_path / "slurm.conf", f"SlurmctldHost=c\nSlurmdParameters=numa_node_as_socket\nGresTypes=gpu,nic\n{nodes}")
    import_site(SiteFiles(tmp_path / "slurm.conf"), tmp_path / "out")
    hosts = {host.name: host for host in load(tmp_path / "out/scenario.yaml").hosts}
    host = hosts["n1", "n2"]
    assert (host.sockets, host.numa_per_socket, host.numa_nodes) == (4, 1, 4)
    assert [(each.type, each.count) for each in host.gpus] == [("nvidia_a100", 4), ("1080", 1)]
    assert hosts[("big",)].gpus == []  # more than a host has buses for: a count that stands for something else

"""Sites imported and run: the emulated sacct agrees with the site's in what the import promises."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Simunix
from tests.system.needs import with_database

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
SITES = ROOT / "tests/sites"
FIELDS = "JobID,User,Account,Partition,QOS,Timelimit,ReqCPUS,AllocCPUS,State,ExitCode,NodeList,Elapsed,Start"
PROMISED = ("User", "Account", "Partition", "QOS", "Timelimit", "ReqCPUS", "AllocCPUS", "State", "ExitCode", "NodeList")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(), delimiter="|"))


@with_database
def test_the_emulated_sacct_agrees(simunix: Simunix, tmp_path: Path) -> None:
    site = SITES / "university"
    words = ["--accounts", site / "accounts.cfg", "--qos", site / "qos.txt", "--sacct", site / "jobs.txt"]
    words += ["--reservations", site / "reservations.txt", "--scripts"]
    done = simunix("slurm", "import", site / "slurm.conf", *words, "--output", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "site/scenario.yaml"
    scenario = yaml.safe_load(path.read_text())
    scenario |= {"stop": "time", "until": "14min", "epoch": "2024-03-01T07:59:00Z"}
    command = f"sacct -a -D -X -P -S 2024-03-01T00:00:00 -E 2024-03-02T00:00:00 -o {FIELDS}"
    scenario["processes"].append({"name": "sacct", "host": "hydra-head", "start": "13min", "command": command})
    asking = {"name": "reserved", "host": "hydra-head", "start": "13min", "command": "scontrol -o show reservation"}
    scenario["processes"].append(asking)
    path.write_text(yaml.safe_dump(scenario))
    done = simunix("run", path, "--out", tmp_path / "out", timeout=250)
    assert done.returncode == 0, done.stderr
    reserved = (tmp_path / "out/hosts/hydra-head/reserved.out").read_text()
    assert reserved.startswith("ReservationName=course StartTime=2024-03-01T08:11:30 EndTime=2024-03-01T09:29:30 ")
    assert " Users=alice,bob " in reserved and " Flags=IGNORE_JOBS,SPEC_NODES " in reserved and reserved.count("\n") == 1
    assert "the site's script has seen a job of" in (tmp_path / "out/hosts/hydra-head/slurmctld.err").read_text()
    assert "prolog of 1 on gpu1\n" in (tmp_path / "out/hosts/gpu1/files/var_log_slurm/prolog.txt").read_text()
    inside = rows((tmp_path / "out/hosts/hydra-head/sacct.out").read_text())
    site_rows = [row for row in rows((site / "jobs.txt").read_text()) if "." not in row["JobID"]]
    assert len(inside) == len(site_rows) == 9  # one of them twice: preempted by a job of higher QOS, and requeued
    for ours, theirs in zip(inside, site_rows, strict=True):
        assert {name: ours[name] for name in PROMISED} == {name: theirs[name] for name in PROMISED}, theirs["JobID"]
        seconds = [sum(int(part) * 60**place for place, part in enumerate(reversed(ours["Elapsed"].split(":"))))]
        allowed = range(int(theirs["ElapsedRaw"]), int(theirs["ElapsedRaw"]) + (31 if theirs["State"] == "TIMEOUT" else 2))
        assert seconds[0] in allowed, theirs["JobID"]


@with_database
def test_a_site_with_other_names_does_the_same(simunix: Simunix, tmp_path: Path) -> None:
    site, scenario = SITES / "university", tmp_path / "site/scenario.yaml"
    words = ["--accounts", site / "accounts.cfg", "--qos", site / "qos.txt", "--sacct", site / "jobs.txt"]
    words += ["--reservations", site / "reservations.txt", "--anonymous"]
    assert simunix("slurm", "import", site / "slurm.conf", *words, "--output", scenario.parent).returncode == 0
    done = simunix("run", scenario, "--out", tmp_path / "out", timeout=250)
    assert done.returncode == 0, done.stderr
    jobs = list(csv.DictReader((tmp_path / "out/jobs.csv").read_text().splitlines()))
    last = {row["JobID"]: row for row in rows((site / "jobs.txt").read_text()) if "." not in row["JobID"]}
    assert [job["final_state"] for job in jobs] == [row["State"] for row in last.values()]
    nodes = {"gpu1": "host3-1", "cpu1": "host2-1", "cpu[1-2]": "host2-[1-2]"}
    assert [job["allocated_hosts"] for job in jobs] == [nodes[row["NodeList"]] for row in last.values()]
    users = {"alice": "user1 account1 qos2", "bob": "user2 account2 qos1"}
    assert [f"{job['user']} {job['account']} {job['qos']}" for job in jobs] == [users[row["User"]] for row in last.values()]


@with_database
def test_another_configuration_is_compared_and_held_against_the_site(simunix: Simunix, tmp_path: Path) -> None:
    site, scenario = SITES / "university", tmp_path / "site/scenario.yaml"
    words = ["--accounts", site / "accounts.cfg", "--qos", site / "qos.txt", "--sacct", site / "jobs.txt"]
    assert simunix("slurm", "import", site / "slurm.conf", *words, "--output", scenario.parent).returncode == 0
    variant = ["--set", "fifo:", "slurm.parameters.PriorityType=priority/basic", "--against", site / "jobs.txt"]
    done = simunix("compare", scenario, *variant, "-o", tmp_path / "out", timeout=250)
    assert done.returncode == 0, done.stderr
    assert "Starts against jobs.txt" in done.stdout and "fifo against base: " in done.stdout
    errors = list(csv.DictReader((tmp_path / "out/errors.csv").read_text().splitlines()))
    assert errors and (tmp_path / "out/compare.html").exists()


@pytest.mark.parametrize(("site", "nodes"), [("large", 24), ("included", 4)])
def test_other_sites_come_up(simunix: Simunix, tmp_path: Path, site: str, nodes: int) -> None:
    done = simunix("slurm", "import", SITES / site / "slurm.conf", "--output", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "site/scenario.yaml"
    scenario = yaml.safe_load(path.read_text())
    command = (
        "sinfo -Nho '%N %t' | sort -u | awk '{print $2}' | sort | uniq -c; scontrol show licenses -o; scontrol show topology -o"
    )
    user = {"name": "user", "host": scenario["slurm"]["controller"], "start": "20s", "command": command}
    path.write_text(yaml.safe_dump(scenario | {"processes": [user], "until": "1min"}))
    done = simunix("run", path, "--out", tmp_path / "out", timeout=250)
    assert done.returncode == 0, done.stderr
    told = (tmp_path / f"out/hosts/{scenario['slurm']['controller']}/user.out").read_text()
    if site == "included":
        assert "3 idle" in told and "1 down" in told and "LicenseName=matlab Total=5" in told, told
    else:
        assert "24 idle" in told and "SwitchName=spine Level=1" in told, told


@with_database
def test_fair_share_begins_with_the_usage_so_far(simunix: Simunix, tmp_path: Path) -> None:
    site, path = SITES / "university", tmp_path / "site/scenario.yaml"
    usage = tmp_path / "usage.txt"
    usage.write_text("Account|User|RawUsage\nroot||1000000\n physics||900000\n  physics|alice|900000\n  chem|bob|100000\n")
    words = ["--accounts", site / "accounts.cfg", "--qos", site / "qos.txt", "--usage", usage]
    done = simunix("slurm", "import", site / "slurm.conf", *words, "--output", path.parent)
    assert done.returncode == 0 and "fair-share" not in done.stdout, done.stderr
    scenario = yaml.safe_load(path.read_text()) | {"until": "40s"}
    command = "sshare -a -P -n -o Account,User,RawUsage,EffectvUsage,FairShare"
    scenario["processes"].append({"name": "sshare", "host": "hydra-head", "start": "30s", "command": command})
    path.write_text(yaml.safe_dump(scenario))
    done = simunix("run", path, "--out", tmp_path / "out", timeout=250)
    assert done.returncode == 0, done.stderr
    told = [line.split("|") for line in (tmp_path / "out/hosts/hydra-head/sshare.out").read_text().split("\n") if line]
    found = {(account.strip(), user): (int(raw), effective, fair) for account, user, raw, effective, fair in told}
    assert abs(found["physics", "alice"][0] - 900_000) < 100 and abs(found["root", ""][0] - 1_000_000) < 100
    assert found["physics", ""][1].startswith("0.9") and found["chem", ""][1].startswith("0.1")
    assert float(found["chem", "bob"][2]) > float(found["physics", "alice"][2])


def test_a_plugin_that_is_not_installed_is_named_before_the_start(simunix: Simunix, tmp_path: Path) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\nSlurmctldHost=head\nSelectType=select/smith\nNodeName=n1\nPartitionName=p Nodes=n1\n")
    done = simunix("slurm", "import", conf, "--output", tmp_path / "site")
    assert done.returncode == 0 and f"{conf}:3: SelectType=select/smith: kept, but the run would be refused: " in done.stdout
    done = simunix("run", tmp_path / "site/scenario.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert f"(1) {tmp_path}/site/slurm.conf:18 (from {conf}:3): SelectType=select/smith: " in done.stderr
    assert "has no plugin select/smith in " in done.stderr and "give one that is there: " in done.stderr


def test_a_daemon_that_ends_at_once_says_why(simunix: Simunix, tmp_path: Path) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\nSlurmctldHost=head\nSelectTypeParameters=CR_Smith\nNodeName=n1\nPartitionName=p Nodes=n1\n")
    assert simunix("slurm", "import", conf, "--output", tmp_path / "site").returncode == 0
    done = simunix("run", tmp_path / "site/scenario.yaml", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "slurmctld.err, and ends with: slurmctld: error: " in done.stderr
    assert "; slurmctld: fatal: Unable to process configuration file" in done.stderr


OF_ALL_KINDS = """ClusterName=kinds
SlurmctldHost=head(10.9.9.1)
SlurmctldAddr=10.9.9.250
SchedulerParameters=bf_window=1440,\\
bf_continue,\\
default_queue_depth=200
LaunchParameters="use_interactive_step, enable_nss_slurm"
SuspendExcNodes=s[1-2],c1
GresTypes=gpu
TopologyPlugin=topology/tree
NodeName=DEFAULT CPUs=2 RealMemory=1000 Gres=gpu:a100:2
NodeName=s[1-2] Features="big,fast"
NodeName=c[1-2] State=CLOUD Feature=cloud
NodeName=f1 State=FUTURE
FrontendName=fe1
NodeSet=clouds Feature=cloud
PartitionName=mix Nodes=s[1-2],c[1-2] Default=YES TRESBillingWeights="CPU=1.0,Mem=0.25G"
PartitionName=burst Nodes=clouds
PartitionName=later Nodes=f1 State=DOWN
"""


def test_what_sites_write_in_many_ways_comes_up(simunix: Simunix, tmp_path: Path) -> None:
    site = tmp_path / "in"
    site.mkdir()
    (site / "slurm.conf").write_text(OF_ALL_KINDS)
    (site / "gres.conf").write_text("AutoDetect=nvml\n")
    (site / "topology.conf").write_text("SwitchName=a Nodes=s[1-2]\nSwitchName=b Nodes=c[1-2]\nSwitchName=top Switches=a,b\n")
    done = simunix("slurm", "import", site / "slurm.conf", "--output", tmp_path / "site")
    assert done.returncode == 0 and "the start" not in done.stdout, done.stdout + done.stderr
    path = tmp_path / "site/scenario.yaml"
    command = "sinfo -Nho '%N %t %G %f %P'; scontrol show config | grep -E 'SchedulerParam|LaunchPar|SuspendExcN'"
    user = {"name": "user", "host": "s1", "start": "20s", "command": f"{command}; scontrol show topology -o"}
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"processes": [user], "until": "40s"}))
    done = simunix("run", path, "--out", tmp_path / "out", timeout=250)
    assert done.returncode == 0 and "drain" not in done.stderr, done.stderr
    told = [" ".join(line.split()) for line in (tmp_path / "out/hosts/s1/user.out").read_text().splitlines()]
    assert told[:2] == [f"s{number} idle gpu:a100:2 big,fast mix*" for number in (1, 2)]
    assert "LaunchParameters = use_interactive_step, enable_nss_slurm" in told
    assert "SchedulerParameters = bf_window=1440,bf_continue,default_queue_depth=200" in told
    assert "SuspendExcNodes = s[1-2]" in told
    assert [line.split(" ")[0] for line in told if line.startswith("Switch")] == ["SwitchName=a", "SwitchName=top"]


def test_a_continued_line_of_an_own_configuration_is_read_as_slurm_reads_it(simunix: Simunix, tmp_path: Path) -> None:
    conf = "ClusterName=c\nSlurmctldHost=head\nSchedulerParameters=bf_window=10080,\\\nbf_resolution=300,\\\nbf_continue\n"
    conf += "AuthType=auth/none\nCredType=cred/none\nProctrackType=proctrack/pgid\nMailProg=/bin/true\nSlurmUser=root\n"
    (tmp_path / "slurm.conf").write_text(f"{conf}NodeName=n1 CPUs=1\nPartitionName=a Nodes=ALL Default=YES\n")
    user = "{name: user, host: head, start: 10s, command: 'scontrol show config | grep SchedulerParameters'}"
    hosts = "hosts: [{name: head}, {name: n1}]\nslurm: {controller: head, nodes: n1, config: slurm.conf}\n"
    (tmp_path / "s.yaml").write_text(f"{hosts}until: 20s\nprocesses: [{user}]\n")
    assert simunix("check", tmp_path / "s.yaml").returncode in (0, 1)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=250)
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "out/hosts/head/user.out").read_text().split()
    assert told == ["SchedulerParameters", "=", "bf_window=10080,bf_resolution=300,bf_continue"]

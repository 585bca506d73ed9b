"""The file that a run writes for the live page before the run begins."""

from __future__ import annotations

from pathlib import Path

from simunix.app.runner import ScenarioOptions, _live_record
from simunix.launch.run_directory import RunDirectory
from simunix.planning.expand import expand
from simunix.rjms.scenario import load
from tests.conftest import ROOT
from tests.needs import needs


@needs("slurmctld", "munged", "slurmdbd", "mariadbd")
def test_a_workload_that_brings_accounts_belongs_to_its_cluster(tmp_path: Path) -> None:
    """The accounts of a workload make another plan of its cluster."""
    path = ROOT / "scenarios/fairshare.yaml"
    scenario = load(path)
    expansion = expand(scenario, path.parent)
    assert expansion.workloads[0].cluster not in expansion.clusters
    with RunDirectory.create(tmp_path / "out") as directory:
        record = _live_record(ScenarioOptions(path=path), scenario, expansion, directory)
    assert [(workload.cluster, len(workload.jobs)) for workload in record.workloads] == [(0, 8)]

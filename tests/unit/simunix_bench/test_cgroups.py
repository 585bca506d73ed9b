"""The benchmark of cgroups: the sections of the two kinds of clusters, and the figures from runs."""

from __future__ import annotations

import yaml

from simunix_bench.costs.cgroups import KINDS, SCENARIO, Spent, _ratio
from simunix_bench.plugins import PLAIN, WITH_CGROUPS
from simunix_bench.row import at_most


def test_the_scenarios_are_ones_and_differ_in_the_plugins() -> None:
    sections = []
    for plugins in (PLAIN, *KINDS.values()):
        text = SCENARIO.format(nodes=17, jobs=3, plugins=plugins.section())
        sections.append(yaml.safe_load(text)["slurm"])
        assert yaml.safe_load(text)["hosts"][1]["name"] == "node[01-17]"
    assert sections[0] == {"controller": "controller", "nodes": "node[01-17]"}
    assert sections[1]["parameters"].keys() == sections[2]["parameters"].keys()
    assert "cgroup" not in sections[1]
    assert sections[2]["cgroup"]["ConstrainCores"] is True


def test_parameters_stand_beside_others() -> None:
    section = yaml.safe_load("{a: b" + WITH_CGROUPS.section("AuthType: auth/none") + "}")
    assert section["parameters"]["AuthType"] == "auth/none"
    assert section["parameters"]["TaskPlugin"] == "task/cgroup,task/affinity"


def test_a_ratio_is_the_median_of_those_of_neighbours() -> None:
    rounds = [
        {"without": {"job": Spent(without, 1)}, "with": {"job": Spent(with_s, 1)}}
        for without, with_s in ((1.0, 1.1), (2.0, 2.4), (1.0, 1.3))
    ]
    row = _ratio("name", "text", rounds, ("job", "cpu_s"), at_most(1.15))
    assert row.value == 1.2
    assert row.verdict == "missed"
    assert row.note == "without 1000.0 ms, with 1300.0 ms; ratios 1.10 to 1.30"
    assert Spent(5.0, 3.0).above(Spent(1.0, 1.0), 4) == Spent(1.0, 0.5)

"""The table of RJMSs: what it adds to the scenario format, and what a cluster of one is asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from simunix.rjms.registry import RJMSS
from simunix.rjms.scenario import Scenario, cluster_sections
from simunix.rjms.slurm.section import SlurmSection
from simunix.scenario import model

HOSTS: dict[str, Any] = {"hosts": [{"name": "n[1-4]"}]}
FIRST = {"controller": "n1", "nodes": "n2", "cluster": "a"}
SECOND = {"controller": "n3", "nodes": "n4", "cluster": "b"}


def test_the_generic_format_knows_no_rjms() -> None:
    assert not set(RJMSS) & set(model.Scenario.model_fields)
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.Scenario.model_validate({**HOSTS, "slurm": FIRST})


def test_each_rjms_adds_its_section() -> None:
    assert set(Scenario.model_fields) - set(model.Scenario.model_fields) == set(RJMSS)
    assert list(cluster_sections(Scenario.model_validate(HOSTS))) == []


def test_one_cluster_or_a_list_of_them() -> None:
    one = list(cluster_sections(Scenario.model_validate({**HOSTS, "slurm": FIRST})))
    assert one == [("slurm", RJMSS["slurm"], SlurmSection.model_validate(FIRST))]
    two = list(cluster_sections(Scenario.model_validate({**HOSTS, "slurm": [FIRST, SECOND]})))
    assert [(key, section.cluster) for key, _, section in two] == [("slurm[0]", "a"), ("slurm[1]", "b")]


@pytest.mark.parametrize("rjms", RJMSS.values(), ids=RJMSS)
def test_clients_leave_places_for_numbers(rjms: Any) -> None:
    clients = rjms.clients
    assert not clients.after or "{}" in " ".join(clients.after)
    assert "{}" in " ".join(clients.ended) and "{}" in clients.release
    words = " ".join(clients.array(8 - clients.first_index))
    assert "7" in words or "8" in words  # the last index, or how many
    assert re.compile(clients.number).groups == 1
    assert clients.names and clients.staying < set(clients.names)
    assert clients.job_name(7) in clients.named(7)


@pytest.mark.parametrize("rjms", RJMSS.values(), ids=RJMSS)
def test_commands_by_hand_leave_a_place_for_what_they_are_about(rjms: Any) -> None:
    by_hand = rjms.clients.by_hand
    assert by_hand.hint and by_hand.cluster and "cancel" in by_hand.job
    for command in (*by_hand.job.values(), *by_hand.node.values()):
        assert command.replace("{}", "17").count("17") == 1 and command.format("17")
    assert not any("{}" in command for command in by_hand.cluster.values())

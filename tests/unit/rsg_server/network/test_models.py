"""Factors of flow models, and SimGrid's settings of them."""

from __future__ import annotations

import pytest

from rsg_server.errors import SimunixError
from rsg_server.network.models import Factor, configured, lv08, model_named


def test_factors_apply_above_their_threshold() -> None:
    steps = Factor((0.0, 10.0), (2.0, 3.0))
    assert [steps.of(size) for size in (0, 1, 10, 11)] == [1.0, 2.0, 2.0, 3.0]


def test_simgrids_settings_are_understood() -> None:
    model = configured(
        lv08(),
        {
            "network/model": "CM02",
            "network/bandwidth-factor": "0.9",
            "network/latency-factor": "1000:2;0:1.5",
            "network/weight-S": "8775",
            "network/TCP-gamma": "65536",
            "network/crosstraffic": "no",
            "network/loopback-bw": "1e9",
            "network/loopback-lat": "0.001",
            "precision/timing": "1e-6",
        },
    )
    assert model.name == "CM02"
    assert [model.latency_factor.of(size) for size in (1000, 1001)] == [1.5, 2.0]
    assert (model.weight_s, model.tcp_gamma, model.cross_traffic) == (8775, 65536, False)
    assert (model.loopback_bytes_per_s, model.loopback_latency_s, model.timing_s) == (1e9, 0.001, 1e-6)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("network/modle", "x", "unknown key; known: network/model, network/bandwidth-factor"),
        ("network/model", "LV09", "no model 'LV09'; known: LV08, CM02, SMPI, constant"),
        ("network/weight-S", "many", "expected a number"),
        ("network/weight-S", "-1", "at least 0"),
        ("network/bandwidth-factor", "0", "above 0"),
        ("network/bandwidth-factor", "1:1;2", "THRESHOLD:FACTOR"),
        ("network/crosstraffic", "perhaps", "yes or no"),
    ],
)
def test_wrong_settings_are_refused(key: str, value: str, says: str) -> None:
    with pytest.raises(SimunixError, match=key) as refused:
        configured(model_named("LV08"), {key: value})
    assert says in str(refused.value)

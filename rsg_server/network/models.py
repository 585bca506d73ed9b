"""Flow models: how fast a message of so many bytes moves over a route of links, in SimGrid's terms and with published numbers.

For a flow of `size` bytes, with `lat` the latency of its route and x its share of the links (csrc/network/maxmin.h):

    begins to move its bytes     latency-factor(size) * lat after its start
    bytes per second             bandwidth-factor(size) * x
    penalty                      lat + sum over the links of weight-S / bandwidth: flows share a full link inversely to it
    window                       bytes per second never exceed TCP-gamma / (2 * lat)
    cross-traffic                acknowledgements take 5 % of x from every link of the way back

csrc/network/flows.h says where SimGrid itself departs from this, and what its compatible mode does then.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rsg_server.errors import SimunixError

ACKNOWLEDGEMENTS = 0.05
"""The share of a flow's bandwidth that its acknowledgements take on the way back (SimGrid's network/crosstraffic)."""
WINDOW_BYTES = 4_194_304.0
"""SimGrid's default of network/TCP-gamma: the largest TCP window of Linux's net.ipv4.tcp_rmem."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A number that depends on the size of a message: `values[i]` for more than `thresholds[i]` bytes; 1 for smaller
    sizes and 0.
    """

    thresholds: tuple[float, ...]
    values: tuple[float, ...]

    def of(self, size_bytes: float) -> float:
        """Return the factor of latency or bandwidth for a message of `size_bytes`; below the first threshold it is 1."""
        index = bisect.bisect_left(self.thresholds, size_bytes) - 1
        return self.values[index] if index >= 0 else 1.0


def constant(value: float) -> Factor:
    """Return a factor with one value for messages of any size."""
    return Factor((-1.0,), (value,))


ONE = constant(1.0)


@dataclass(frozen=True, slots=True)
class Model:
    """The numbers of a flow model. The functions below return known models, with their formulas and sources."""

    name: str
    latency_factor: Factor = ONE
    bandwidth_factor: Factor = ONE
    weight_s: float = 0.0
    tcp_gamma: float = WINDOW_BYTES
    cross_traffic: bool = True
    shares: bool = True
    loopback_bytes_per_s: float = 1e10
    loopback_latency_s: float = 0.0
    concurrency: int = -1
    timing_s: float | None = None
    shares_bottlenecks: bool = False


def lv08() -> Model:
    """Return the model LV08, SimGrid's default: latency-factor 13.01, bandwidth-factor 0.97, weight-S 20537.

    The three numbers were fitted to packet-level simulations (GTNetS) of TCP. Slow start makes a transfer begin as if
    the latency were 13.01 times what it is, headers leave 97 % of the bandwidth, and a link of bandwidth B lengthens
    the round trip of the flows on it by S / B. Source: P. Velho, A. Legrand, "Accuracy study and improvement of network
    simulation in the SimGrid framework", SIMUTools 2009; the numbers as in SimGrid 3.32, src/surf/network_cm02.cpp.
    """
    return Model("LV08", constant(13.01), constant(0.97), 20537.0)


def cm02() -> Model:
    """Return the model CM02: both factors 1, weight-S 0. Flows share links max-min fairly; the only other bound of a
    flow is its TCP window.

    Source: H. Casanova, L. Marchal, "A network model for simulation of grid application", INRIA RR-4596, 2002.
    """
    return Model("CM02")


def smpi() -> Model:
    """Return the model SMPI: factors by message size, weight-S 8775, for MPI over TCP on gigabit Ethernet.

    The factors were fitted to measurements; each factor applies to messages with more bytes than its threshold. Source:
    P. Bedaride et al., "Toward better simulation of MPI applications on Ethernet/TCP networks", PMBS 2013; the numbers
    as in SimGrid 3.32, src/surf/network_smpi.cpp.
    """
    thresholds = (0.0, 257.0, 732.0, 1426.0, 3484.0, 5776.0, 9376.0, 15424.0, 65472.0)
    bandwidth = (0.812084, 0.338112, 0.341987, 0.608902, 0.77493, 1.08739, 0.58729, 0.697866, 0.940694)
    latency = (2.01467, 1.95341, 1.9503, 1.61075, 1.88101, 2.18796, 2.59299, 3.48845, 11.6436)
    return Model("SMPI", Factor(thresholds, latency), Factor(thresholds, bandwidth), 8775.0)


def without_sharing() -> Model:
    """Return the model `constant`: a message takes latency + size / (the least bandwidth of its route).

    Flows do not share links, and there is no window.
    """
    return Model("constant", tcp_gamma=0.0, cross_traffic=False, shares=False)


def raw() -> Model:
    """Return the model `raw`: max-min sharing of the links' bandwidth without factors, window or cross-traffic (SimGrid
    3.36 on).
    """
    return Model("raw", tcp_gamma=0.0, cross_traffic=False)


def ptask_l07() -> Model:
    """Return the model ptask_L07: fair bottleneck sharing (csrc/network/bottleneck.c) of links and cores.

    Parallel tasks use links and cores at one time. Each user of a link or of cores is offered an equal part, whatever
    its latency. There are no factors and no cross-traffic; the only bound is the TCP window. SimGrid 3.32 shares in the
    same way with host/model:ptask_L07 (src/surf/ptask_L07.cpp), from which the loopback is taken as well.
    """
    return Model(
        "ptask_L07", cross_traffic=False, loopback_bytes_per_s=498e6, loopback_latency_s=15e-6, shares_bottlenecks=True
    )


MODELS = {"LV08": lv08, "CM02": cm02, "SMPI": smpi, "constant": without_sharing, "raw": raw, "ptask_L07": ptask_l07}


def model_named(name: str) -> Model:
    """Return the flow model with a name. Raises SimunixError, which lists the known names, for any other name."""
    if name not in MODELS:
        raise SimunixError(f"network/model: there is no model {name!r}; known: {', '.join(MODELS)}")
    return MODELS[name]()


# The configuration keys of SimGrid


def _number(key: str, text: str, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        raise SimunixError(f"--cfg {key}={text}: expected a number, e.g. {key}={least + 1:g}") from None
    if not least <= value < float("inf"):
        raise SimunixError(f"--cfg {key}={text}: expected a finite number of at least {least:g}")
    return value


def _factor(key: str, text: str) -> Factor:
    """Return the factor that a text means: one number, or `65472:0.940694;15424:0.697866`, with thresholds in any order."""
    if ":" not in text:
        return constant(_positive(key, text))
    steps = []
    for step in text.split(";"):
        threshold, colon, value = step.partition(":")
        if not colon:
            raise SimunixError(f"--cfg {key}={text}: expected THRESHOLD:FACTOR;THRESHOLD:FACTOR…, got {step!r}")
        steps.append((_number(key, threshold, 0), _positive(key, value)))
    steps.sort()
    return Factor(tuple(threshold for threshold, _ in steps), tuple(value for _, value in steps))


def _positive(key: str, text: str) -> float:
    value = _number(key, text, 0)
    if value == 0:
        raise SimunixError(f"--cfg {key}={text}: expected a number above 0")
    return value


YES_OR_NO = {"1": True, "yes": True, "on": True, "true": True, "0": False, "no": False, "off": False, "false": False}


def _yes(key: str, text: str) -> bool:
    if text.lower() not in YES_OR_NO:
        raise SimunixError(f"--cfg {key}={text}: expected yes or no")
    return YES_OR_NO[text.lower()]


def _limit(key: str, text: str) -> int:
    return int(_number(key, text, -1))


def _full(key: str, text: str) -> None:
    if text != "Full":
        raise SimunixError(f"--cfg {key}={text}: simunix always computes as with {key}=Full; leave this setting out")


MODEL = "network/model"
PREFIXES = ("network/", "maxmin/concurrency-limit", "precision/timing")
KEYS: dict[str, tuple[str | None, Callable[[str, str], Any]]] = {
    "network/bandwidth-factor": ("bandwidth_factor", _factor),
    "network/latency-factor": ("latency_factor", _factor),
    "network/weight-S": ("weight_s", lambda key, text: _number(key, text, 0)),
    "network/TCP-gamma": ("tcp_gamma", lambda key, text: _number(key, text, 0)),
    "network/crosstraffic": ("cross_traffic", _yes),
    "network/loopback-bw": ("loopback_bytes_per_s", _positive),
    "network/loopback-lat": ("loopback_latency_s", lambda key, text: _number(key, text, 0)),
    "maxmin/concurrency-limit": ("concurrency", _limit),
    "precision/timing": ("timing_s", _positive),
    "network/optim": (None, _full),
}
"""SimGrid's configuration keys, and the field of Model that each sets. None: the value cannot be changed here.

`network/model` is read before these keys.
"""


def about_flows(config: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a platform file's `<config>` that concern flows."""
    return {key: value for key, value in config.items() if key.startswith(PREFIXES)}


def configured(model: Model, settings: Mapping[str, str]) -> Model:
    """Return the flow model with SimGrid's `--cfg` settings applied.

    Raises SimunixError for an unknown key or a wrong value.
    """
    if MODEL in settings:
        model = model_named(settings[MODEL])
    for key, text in settings.items():
        if key == MODEL:
            continue
        if key not in KEYS:
            raise SimunixError(f"--cfg {key}: unknown key; known: {', '.join([MODEL, *KEYS])}")
        field, read = KEYS[key]
        value = read(key, text)
        if field is not None:
            model = replace(model, **{field: value})
    return model

"""Choose the flow model of a scenario. The scenario's own keys come first, then its SimGrid settings, then the
`<config>` of its platform file.
"""

from __future__ import annotations

from collections.abc import Mapping

from rsg_server.errors import SimunixError
from rsg_server.network.models import MODEL, Model, about_flows, configured, model_named
from simunix.scenario.network_section import EMULATED_MODELS, NetworkSection

NOT_FOR_CONNECTIONS = {
    "network/latency-factor": "stands for the slow start of whole messages, and a connection has none; take it away",
    "network/loopback-bw": "is written as network.loopback_bandwidth here",
    "network/loopback-lat": "is written as network.loopback_latency here",
    "precision/timing": "moments are whole nanoseconds here; take it away",
}
"""Settings of SimGrid that have no meaning for TCP connections, and what to do about them. In a platform file they are
ignored.
"""


def flow_model(network: NetworkSection, config: Mapping[str, str]) -> Model:
    """Return the flow model of a scenario's network; `config` has the settings of its platform file.

    Raises SimunixError for settings that contradict each other or do not exist.
    """
    written = {key: _text(value) for key, value in network.settings.items()}
    _refuse_what_counts_for_nothing(network, written)
    own = {key: value for key, value in about_flows(config).items() if key not in {*NOT_FOR_CONNECTIONS, *written}}
    if "model" in network.model_fields_set or MODEL in written:
        own.pop(MODEL, None)
    _configured("network.platform: config of the file: ", network, own)
    return _configured("network.settings: ", network, own | written)


def _text(value: str | float) -> str:
    """Return a setting as SimGrid's command line writes it: the number 1.0, which was 1 in the YAML file, becomes `1`."""
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def _refuse_what_counts_for_nothing(network: NetworkSection, written: Mapping[str, str]) -> None:
    for key in written:
        if key in NOT_FOR_CONNECTIONS:
            raise SimunixError(f"network.settings.{key}: {NOT_FOR_CONNECTIONS[key]}")
    if MODEL in written and "model" in network.model_fields_set and written[MODEL] != network.model:
        raise SimunixError(f"network.settings.{MODEL}: {written[MODEL]!r}, but network.model says {network.model!r}; keep one")


def _configured(prefix: str, network: NetworkSection, settings: Mapping[str, str]) -> Model:
    try:
        model = configured(model_named(network.model), settings)
    except SimunixError as error:
        raise SimunixError(prefix + str(error).removeprefix("--cfg ")) from None
    if model.name not in EMULATED_MODELS:
        known = ", ".join(EMULATED_MODELS)
        raise SimunixError(
            f"{prefix}{MODEL}={model.name}: its numbers depend on the size of a message, which a connection does not tell; "
            f"choose network.model among {known}"
        )
    if len(model.bandwidth_factor.values) > 1:
        steps = settings["network/bandwidth-factor"]
        raise SimunixError(
            f"{prefix}network/bandwidth-factor={steps}: a connection does not tell the size of its messages; give one number"
        )
    return model

"""Choose the PCI device of each GPU or network card of a host: the numbers of vendor and device by its type's name, and
its NUMA node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simunix.launch.view.hardware import PciDevice
from simunix.scenario.device_section import DeviceSection, nodes_of

VGA, THREE_D, DISPLAY = 0x030000, 0x030200, 0x038000
ETHERNET, INFINIBAND, FABRIC = 0x020000, 0x020700, 0x020800


class Model(NamedTuple):
    """The numbers of a PCI device: vendor, device, class. https://pci-ids.ucw.cz is the source."""

    vendor: int
    device: int
    pci_class: int


def _models(vendor: int, pci_class: int, **devices: int) -> dict[str, Model]:
    return {name.strip("_"): Model(vendor, device, pci_class) for name, device in devices.items()}


GPUS: Mapping[str, Model] = {
    **_models(0x10DE, THREE_D, k80=0x102D, p100=0x15F8, p40=0x1B38, v100=0x1DB4, t4=0x1EB8, a100=0x20B0, a30=0x20B7),
    **_models(0x10DE, THREE_D, a40=0x2235, a10=0x2236, h100=0x2330, h200=0x2335, gh200=0x2342, b200=0x2901, l4=0x27B8),
    **_models(0x10DE, THREE_D, l40=0x26B5, l40s=0x26B9),
    **_models(0x10DE, VGA, a6000=0x2230, _1080ti=0x1B06, _2080ti=0x1E07, _3090=0x2204, _4090=0x2684),
    **_models(0x1002, DISPLAY, mi50=0x66A1, mi100=0x738C, mi210=0x740F, mi250=0x740C, mi300a=0x74A0, mi300x=0x74A1),
    **_models(0x8086, DISPLAY, max1550=0x0BD5, max1100=0x0BDA, flex170=0x56C0),
}
NICS: Mapping[str, Model] = {
    **_models(0x15B3, ETHERNET, connectx4=0x1013, connectx5=0x1017, connectx6=0x101B, connectx7=0x1021, bluefield2=0xA2D6),
    **_models(0x15B3, ETHERNET, cx4=0x1013, cx5=0x1017, cx6=0x101B, cx7=0x1021),
    **_models(0x15B3, INFINIBAND, edr=0x1017, hdr=0x101B, ndr=0x1021),
    **_models(0x8086, ETHERNET, e810=0x1592, x710=0x1572, xl710=0x1583, i350=0x1521),
    **_models(0x8086, FABRIC, omnipath=0x24F0, opa=0x24F0),
    **_models(0x17DB, ETHERNET, slingshot=0x0501, cassini=0x0501),
    **_models(0x14E4, ETHERNET, bcm57414=0x16D7),
}
OTHER_GPU = Model(0x10DE, 0xFFFF, THREE_D)
OTHER_NIC = Model(0x8086, 0xFFFF, ETHERNET)
"""The device for a type that no table contains: a network card of an unknown model."""
PLAIN_GPU, PLAIN_NIC = GPUS["a100"], NICS["e810"]
"""The PCI devices for a GPU and for a network card whose section in the scenario names no type."""


def _model(name: str, models: Mapping[str, Model], plain: Model, other: Model) -> Model:
    """Return the device for the name of a type: the longest known name in it counts, such as a100 in
    `nvidia_a100-sxm4-80gb`.
    """
    if not name:
        return plain
    letters = "".join(letter for letter in name.lower() if letter.isalnum())
    known = max((model for model in models if model in letters), key=len, default="")
    return models.get(known, other)


def _device(kind: str, section: DeviceSection, node: int, model: Model) -> PciDevice:
    vendor = model.vendor if section.vendor is None else section.vendor
    device = model.device if section.device is None else section.device
    return PciDevice(kind, vendor, device, model.pci_class, node)


def pci_devices(gpus: list[DeviceSection], nics: list[DeviceSection], nodes: int) -> tuple[PciDevice, ...]:
    """Return the PCI devices of a host, first GPUs, then network cards, which is the order in which drivers number
    them.
    """
    return (
        *(_device("gpu", one, node, _model(one.type, GPUS, PLAIN_GPU, OTHER_GPU)) for one, node in nodes_of(gpus, nodes)),
        *(_device("nic", one, node, _model(one.type, NICS, PLAIN_NIC, OTHER_NIC)) for one, node in nodes_of(nics, nodes)),
    )

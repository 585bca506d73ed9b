"""Devices have the numbers that Linux gives them; what it does not know has a free one, the same on all hosts."""

from __future__ import annotations

from simunix.launch.view.device_numbers import numbered


def test_known_devices_have_their_numbers_and_others_free_ones() -> None:
    paths = {
        "a": ("/dev/nvidia0", "/dev/nvidia11", "/dev/nvidiactl", "/dev/infiniband/uverbs1", "/dev/dri/renderD128"),
        "b": ("/dev/fpga3", "/dev/nvidia0", "/dev/mic"),
        "c": ("/dev/mic", "/dev/fpga0"),
    }
    found = {host: {node.path: (node.major, node.minor) for node in nodes} for host, nodes in numbered(paths).items()}
    assert found["a"] == {
        "/dev/nvidia0": (195, 0),
        "/dev/nvidia11": (195, 11),
        "/dev/nvidiactl": (195, 255),
        "/dev/infiniband/uverbs1": (231, 193),
        "/dev/dri/renderD128": (226, 128),
    }
    assert found["b"] == {"/dev/fpga3": (511, 3), "/dev/nvidia0": (195, 0), "/dev/mic": (510, 0)}
    assert found["c"] == {"/dev/mic": (510, 0), "/dev/fpga0": (511, 0)}

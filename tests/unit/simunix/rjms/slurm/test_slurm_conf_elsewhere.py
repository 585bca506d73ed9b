"""SLURM_CONF in a scenario's environment: hosts have the configuration below /etc/slurm, whatever its place on the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.beside import replaced

USUAL = {"SLURM_CONF": "/etc/slurm/slurm.conf"}


def test_the_variable_names_the_file_on_hosts(tmp_path: Path) -> None:
    config = tmp_path / "site.conf"
    config.write_text("ClusterName=x\n")
    (tmp_path / "link.conf").symlink_to(config)
    for name in (str(config), "site.conf", "link.conf", "/no/such/etc/slurm.conf"):
        assert replaced({"SLURM_CONF": name}, config, "slurm", tmp_path) == USUAL
    assert replaced({"SLURM_CONF": "/no/such/etc/slurm.conf"}, None, "slurm", tmp_path) == USUAL
    assert replaced({}, config, "slurm", tmp_path) == {}
    assert replaced(USUAL, None, "slurm", tmp_path) == {}


def test_another_file_than_that_of_config_is_refused(tmp_path: Path) -> None:
    for name in ("one.conf", "two.conf"):
        (tmp_path / name).write_text("ClusterName=x\n")
    environment = {"SLURM_CONF": f"{tmp_path}/one.conf"}
    with pytest.raises(SimunixError, match=r"^environment.SLURM_CONF: .*/one.conf is a slurm.conf, and .* names .*two"):
        replaced(environment, tmp_path / "two.conf", "slurm", tmp_path)
    with pytest.raises(SimunixError, match=r"and slurm.config names none; write slurm.config: .*/one.conf$"):
        replaced(environment, None, "slurm", tmp_path)

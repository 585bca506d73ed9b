"""The RJMSs that simunix knows. A new one is a folder beside this file that implements `rjms.adapter.Rjms`, and a row here."""

from __future__ import annotations

from collections.abc import Mapping

from simunix.rjms.adapter import Rjms
from simunix.rjms.gridengine.adapter import GRIDENGINE
from simunix.rjms.htcondor.adapter import HTCONDOR
from simunix.rjms.slurm.adapter import SLURM

RJMSS: Mapping[str, Rjms] = {rjms.name: rjms for rjms in (SLURM, GRIDENGINE, HTCONDOR)}
"""By the key of the section in a scenario."""

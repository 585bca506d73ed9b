"""`simunix schema`: prints the scenario format as JSON Schema, for editors."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix schema`."""
    parser = subcommands.add_parser("schema", help="print the JSON Schema of scenario files")
    parser.add_argument(
        "--experiment", action="store_true", help="print the JSON Schema of experiment files (simunix sweep) instead"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the JSON Schema of scenarios; return the exit code."""
    print(json.dumps(_model(options.experiment).model_json_schema(), indent=2))
    return 0


def _model(experiment: bool) -> type[BaseModel]:
    if experiment:
        from simunix.sweep.experiment import Experiment

        return Experiment
    from simunix.rjms.scenario import Scenario

    return Scenario

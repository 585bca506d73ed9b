"""`simunix schema`: the scenario format as JSON Schema, for editors."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser("schema", help="print the JSON Schema of scenario files")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print it."""
    from simunix.scenario.model import Scenario

    print(json.dumps(Scenario.model_json_schema(), indent=2))
    return 0

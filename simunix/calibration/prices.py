"""The file that says how long programs compute before their calls: `simunix calibrate` writes such a file, `cpu_policy:
modelled` reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rsg_server.errors import SimunixError
from rsg_server.processor.charges import MOST_NS
from rsg_server.processor.costs import FORMAT, point_number
from rsg_server.whole_files import whole_file
from simunix.scenario import yaml_text

SHIPPED: Final = Path(__file__).parent / "shipped.yaml"
"""The table of computing times for scenarios that name no table of their own."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: str
    computer: str = ""
    programs: dict[str, dict[str, Annotated[int, Field(ge=-MOST_NS, le=MOST_NS)]]]


def first_mistake(error: ValidationError) -> str:
    """Return the place of the first value in a file that is not as expected, and what is wrong with it."""
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'the file'}: {first['msg']}"


def write_prices(path: Path, computer: str, programs: dict[str, dict[str, int]]) -> None:
    """Write a table of computing times. Raises ServerError if the file cannot be written."""
    content = {"format": FORMAT, "computer": computer, "programs": programs}
    with whole_file(path) as file:
        file.write(
            "# Nanoseconds that a program computes before a call or clock read, on average; see docs/guide/processors.md.\n"
        )
        yaml.safe_dump(content, file, sort_keys=False, default_flow_style=None, width=120)


def read_prices(path: Path) -> dict[str, dict[str, int]]:
    """Return a table of computing times, in nanoseconds, by program and by call. Raises SimunixError with the file and
    the wrong key.
    """
    try:
        table = _Table.model_validate(yaml_text.parse(yaml_text.read(path))[0])
    except OSError as error:
        raise SimunixError(f"cpu_costs: {path}: {error.strerror}; name a file that simunix calibrate has written") from error
    except UnicodeDecodeError as error:
        raise SimunixError(f"cpu_costs: {path}: not a text file; simunix calibrate writes such files") from error
    except yaml_text.RefusedError as error:
        line = "" if error.line is None else f":{error.line}"
        raise SimunixError(f"cpu_costs: {path}{line}: {error.problem}; simunix calibrate writes such files") from error
    except ValidationError as error:
        raise SimunixError(f"cpu_costs: {path}: {first_mistake(error)}; simunix calibrate writes such files") from error
    if table.format != FORMAT:
        raise SimunixError(f"cpu_costs: {path}: format: expected {FORMAT!r}, found {table.format!r}; calibrate again")
    for program, prices in table.programs.items():
        unknown = [point for point in prices if point_number(point) is None]
        if unknown:
            raise SimunixError(f"cpu_costs: {path}: programs.{program}.{unknown[0]}: no such system call")
    return table.programs

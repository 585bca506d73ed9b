"""Replace single parameters in the text of a slurm.conf."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import logical_lines, pair_text

OF_MANY = ("nodename", "nodeset", "partitionname", "downnodes", "frontendname", "switchname", "include")
"""The words that begin lines of which a slurm.conf may have several; they are no parameters."""
Value = str | int | float | bool | None
_LINE = re.compile(r"\s*([A-Za-z]\w*)\s*=")


def with_parameters(conf: str, parameters: Mapping[str, Value], key: str) -> str:
    """Return the text of a slurm.conf in which each parameter occurs once, at its former place or at the end; the value
    None removes a parameter.

    Names count as Slurm counts them, in any case. Raises SimunixError, led by `key`, for names that are no parameters.
    """
    given: dict[str, str | None] = {}
    for name, value in parameters.items():
        if not re.fullmatch(r"[A-Za-z]\w*", name) or name.lower() in OF_MANY:
            raise SimunixError(f"{key}.parameters.{name}: not a single parameter of slurm.conf; write lines into extra")
        if name.lower() in given:
            raise SimunixError(f"{key}.parameters.{name}: given twice; names count in any case")
        given[name.lower()] = None if value is None else _pair(name, value, f"{key}.parameters.{name}")
    if not given:
        return conf
    lines = conf.split("\n")
    parts: list[str] = []
    pending = dict(given)
    done = 0
    for first, last, line in logical_lines(conf):
        found = _LINE.match(line)
        if found and (name := found[1].lower()) in given:
            text = pending.pop(name, None)
            parts += [*lines[done : first - 1], *([] if text is None else [text])]
            done = last
    left = [text for text in pending.values() if text is not None]
    return "\n".join([*parts, *"\n".join(lines[done:]).splitlines(), *left]) + "\n"


def _pair(name: str, value: str | int | float | bool, key: str) -> str:
    """Return `Name=value`; a text in quotes is unchanged."""
    text = _text(value)
    if re.fullmatch(r'"[^"\n]*"', text):
        return f"{name}={text}"
    try:
        return pair_text(name, text)
    except ValueError as error:
        raise SimunixError(f"{key}: {error}; got {text!r:.60}") from None


def _text(value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return str(value)

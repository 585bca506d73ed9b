"""Single parameters of slurm.conf, put in the place of what stands there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import logical_lines, pair_text

OF_MANY = ("nodename", "nodeset", "partitionname", "downnodes", "frontendname", "switchname", "include")
"""Words that lines begin with of which there may be many: no parameters."""
Value = str | int | float | bool | None
_LINE = re.compile(r"\s*([A-Za-z]\w*)\s*=")


def with_parameters(conf: str, parameters: Mapping[str, Value], key: str) -> str:
    """Return the text of a slurm.conf with `Name=value` once for each, where it stood or at the end; None takes a
    parameter out.

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
    """`Name=value`; a text in quotes stays as it is."""
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

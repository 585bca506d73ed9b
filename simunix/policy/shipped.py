"""The policies that simunix ships, and policies of a user's own, by name."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Mapping
from typing import Any

from simunix.policy.backfilling import CappedEasy, Conservative, Easy
from simunix.policy.base import Policy
from simunix.policy.multifactor import Multifactor
from simunix.policy.ordered import ORDERS

SHIPPED: dict[str, type[Policy]] = {
    **ORDERS,
    "easy": Easy,
    "conservative": Conservative,
    "multifactor": Multifactor,
    "capped-easy": CappedEasy,
}
"""The policies that simunix ships, by the name that a scenario gives."""


class PolicyError(Exception):
    """A policy that cannot be made, with one line that says why."""


def make(name: str, options: Mapping[str, Any]) -> Policy:
    """Return a new policy: one that simunix ships, or FILE.py:CLASS. Raises PolicyError."""
    chosen = SHIPPED.get(name) or _own(name)
    known = list(inspect.signature(chosen).parameters)
    unknown = [key for key in options if key not in known]
    if unknown:
        raise PolicyError(f"{name}: unknown option {unknown[0]!r}; expected {', '.join(known) or 'no options'}")
    try:
        return chosen(**options)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"{name}: {error}") from error


def _own(name: str) -> type[Policy]:
    """Return the class that FILE.py:CLASS names."""
    path, colon, class_name = name.rpartition(":")
    if not colon:
        raise PolicyError(f"{name!r} is no policy; expected FILE.py:CLASS or one of {', '.join(SHIPPED)}")
    spec = importlib.util.spec_from_file_location("own_policy", path)
    if spec is None or spec.loader is None:
        raise PolicyError(f"{path}: not a Python file; expected FILE.py:CLASS")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror}") from error
    except Exception as error:
        raise PolicyError(f"{path}: {place_of(error, path)}{type(error).__name__}: {error}") from error
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise PolicyError(f"{path}: has no class {class_name} that derives from simunix.policy.Policy")
    return found


def place_of(error: BaseException, path: str = "") -> str:
    """Return "FILE, line N: " of the last line of a file that an error passed; of the innermost file without `path`."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"line {error.lineno}: "
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not path or file == path:
            found = f"line {trace.tb_lineno}: " if path else f"{file}, line {trace.tb_lineno}: "
        trace = trace.tb_next
    return found

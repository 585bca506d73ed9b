"""Classes of values as those of `dataclasses.dataclass`, made at a fraction of its cost.

dataclass writes six methods of a frozen class as text, and Python compiles them, at each start anew and for each class that is
imported: a fifth of a small command's processor time, most of it for methods that are never called. Here the standard library
lists the fields and makes the slots. `__init__` is written when the first instance is made; the other methods are not text,
but closures over the fields. `replace`, `fields` and `asdict` of dataclasses know records.

Modules that a single command imports take this (tests/contract/test_start.py), but for those that are compiled
(csrc/build/build_server.py): these take dataclass itself, which mypyc knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record  # what it is for type checkers
else:

    def record(*, frozen: bool = False, eq: bool = True, slots: bool = False, kw_only: bool = False) -> Callable[[type], type]:
        """Make a class as `dataclass` does with these arguments."""

        def made(given: type) -> type:
            cls = dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(given)
            methods = {"__init__": _first_init(cls, frozen), "__repr__": _repr}
            if eq:
                methods["__eq__"], methods["__hash__"] = _comparison(cls, frozen)
            if frozen:
                methods |= _frozen(cls)
            own = vars(cls)
            for name, method in methods.items():
                if name not in own or (name == "__hash__" and own[name] is None):
                    setattr(cls, name, method)
            return cls

        return made


def _first_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """What makes the first instance, and has `__init__` written for the others."""

    def first_init(self: object, *args: object, **named: object) -> None:
        cls.__init__ = _written_init(cls, frozen)
        cls.__init__(self, *args, **named)

    return first_init


def _written_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """`__init__` as dataclass writes it: a default is an argument's, and what a factory makes is made for each instance."""
    known: dict[str, Any] = {"_missing": MISSING, "_set": object.__setattr__}
    positional, keywords, lines = ["self"], ["*"], []
    for each in fields(cls):
        name = value = each.name
        default = ""
        if each.default is not MISSING:
            known[f"_default_{name}"] = each.default
            default = f"_default_{name}"
        elif each.default_factory is not MISSING:
            known[f"_make_{name}"] = each.default_factory
            default, value = "_missing", f"_make_{name}() if {name} is _missing else {name}"
        if each.init:
            (keywords if each.kw_only else positional).append(f"{name}={default}" if default else name)
        elif default:
            value = f"_make_{name}()" if default == "_missing" else default
        else:
            continue
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join(positional + (keywords if len(keywords) > 1 else []))
    exec(f"def __init__({arguments}):\n " + "\n ".join(lines or ["pass"]), known)
    written: Callable[..., None] = known["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written


@recursive_repr()
def _repr(self: Any) -> str:
    listed = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({listed})"


def _comparison(cls: Any, frozen: bool) -> tuple[Callable[..., Any], Callable[..., int] | None]:
    """`__eq__` and, of what cannot change, `__hash__`: by the values of the fields."""
    compared = _values(each.name for each in fields(cls) if each.compare)

    def is_equal(self: object, other: object) -> Any:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    if not frozen:
        return is_equal, None
    hashed = _values(each.name for each in fields(cls) if (each.compare if each.hash is None else each.hash))

    def hash_of(self: object) -> int:
        return hash(hashed(self))

    return is_equal, hash_of


def _values(names: Iterable[str]) -> Callable[[object], object]:
    """What gives the values of these fields of an object; equal values give equal results."""
    listed = tuple(names)
    return attrgetter(*listed) if listed else lambda _: ()


def _frozen(cls: Any) -> dict[str, Callable[..., Any]]:
    """What keeps fields from being changed, and lets copies be made all the same."""
    names = frozenset(each.name for each in fields(cls))

    def refuse_set(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def refuse_delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": refuse_set, "__delattr__": refuse_delete, "__getstate__": _state, "__setstate__": _set_state}


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)

"""Records are what dataclass makes of a class, with methods that are made later."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from rsg_server.records import record

MAKERS = pytest.mark.parametrize("make", [dataclass, record], ids=["dataclass", "record"])


@record(frozen=True, slots=True)
class Point:
    """On module level, so that it can be pickled."""

    x: int
    y: int = 2


def frozen_kind(make: Any) -> Any:
    @make(frozen=True, slots=True)
    class Kind:
        """A kind."""

        name: str
        size: int = 3
        parts: tuple[int, ...] = field(default=(), compare=False)
        secret: str = field(default="s", repr=False, hash=False)

    return Kind


@MAKERS
def test_values_compare_print_and_hash_by_their_fields(make: Callable[..., Any]) -> None:
    kind = frozen_kind(make)
    one, other = kind("a"), kind("a", parts=(1,))
    assert one == other
    assert hash(one) == hash(other) == hash(kind("a", secret="t"))
    assert one != kind("b") != ("b", 3)
    assert repr(other).endswith("Kind(name='a', size=3, parts=(1,))")
    assert asdict(other) == {"name": "a", "size": 3, "parts": (1,), "secret": "s"}
    assert [each.name for each in fields(kind)] == ["name", "size", "parts", "secret"]
    assert replace(one, size=4) == kind("a", 4)


@MAKERS
def test_frozen_fields_cannot_be_set_or_deleted(make: Callable[..., Any]) -> None:
    value = frozen_kind(make)("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'size'"):
        value.size = 4
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'size'"):
        del value.size
    assert not hasattr(value, "__dict__")


@MAKERS
def test_arguments_that_are_wrong_are_named(make: Callable[..., Any]) -> None:
    kind = frozen_kind(make)
    with pytest.raises(TypeError, match=r"Kind.__init__\(\) missing 1 required positional argument: 'name'"):
        kind()
    with pytest.raises(TypeError, match=r"Kind.__init__\(\) got an unexpected keyword argument 'more'"):
        kind("a", more=1)


@MAKERS
def test_what_can_change_has_no_hash_and_fresh_defaults(make: Callable[..., Any]) -> None:
    @make(slots=True)
    class Kind:
        """A kind."""

        name: str
        _: KW_ONLY
        parts: list[int] = field(default_factory=list)
        length: int = field(init=False)
        state: str = field(default="new", init=False)
        seen: dict[str, int] = field(default_factory=dict, init=False)

        def __post_init__(self) -> None:
            self.length = len(self.parts)

    kind: Any = Kind
    one, other = kind("a"), kind("a", parts=[1])
    one.parts.append(2)
    assert (one.parts, other.parts, other.length, kind("b").parts) == ([2], [1], 1, [])
    assert (one.state, one.seen) == ("new", {})
    assert kind.__hash__ is None
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        kind("a", [1])


@MAKERS
def test_without_comparison_objects_differ(make: Callable[..., Any]) -> None:
    @make(eq=False, slots=True)
    class Kind:
        """A kind."""

        name: str

    kind: Any = Kind
    one = kind("a")
    assert one != kind("a")
    assert len({one, one, kind("a")}) == 2


@MAKERS
def test_a_class_may_extend_another_and_write_methods_itself(make: Callable[..., Any]) -> None:
    @make(frozen=True, slots=True, kw_only=True)
    class Base:
        """A base."""

        name: str = "base"

    @make(frozen=True, slots=True)
    class Kind(Base):
        """A kind."""

        size: int

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __hash__(self) -> int:
            return 7

    kind: Any = Kind
    assert (repr(kind(1)), hash(kind(1)), kind(1, name="n").name, Base().name) == ("<base>", 7, "n", "base")
    assert kind(1) == kind(1) != Base()
    with pytest.raises(FrozenInstanceError):
        kind(1).name = "other"


def test_copies_are_equal() -> None:
    value = Point(1)
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value

"""Records against frozen data classes, which they stand for."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import pytest

from neardup.record import record


class _Body:
    a: int
    b: str = "x"
    c: list[int] = field(default_factory=list)
    d: float = field(default=1.5, compare=False, repr=False)
    e: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "e", self.a + 1)


def _class(make: Any, name: str) -> Any:
    return make(type(name, (), dict(_Body.__dict__) | {"__qualname__": name, "__doc__": "What it is."}))


Record = _class(record(frozen=True, slots=True), "Record")
Plain = _class(dataclass(frozen=True, slots=True), "Plain")
GIVEN = [((1,), {}), ((1, "y"), {}), ((1,), {"c": [2], "d": 3.0}), ((), {"a": 4, "b": "z"})]


@pytest.mark.parametrize(("values", "named"), GIVEN)
def test_as_a_data_class(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    one, other = Record(*values, **named), Plain(*values, **named)
    assert asdict(one) == asdict(other)
    assert repr(one) == repr(other).replace("Plain", "Record")
    assert replace(one, b="new") == Record(*values[:1], **named | {"b": "new"} | ({} if values else {"a": 4}))
    assert one == copy.copy(one) == pickle.loads(pickle.dumps(one))
    assert asdict(pickle.loads(pickle.dumps(one))) == asdict(one)


def test_equality_and_hash() -> None:
    fixed = {"c": ()}
    assert Record(1, **fixed) == Record(1, d=9.0, **fixed), "a field that is not compared"
    assert hash(Record(1, **fixed)) == hash(Record(1, d=9.0, **fixed))
    assert Record(1) != Record(2)
    assert Record(1) != Plain(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Record(1))


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, "y", [], 1.0, 5), {}), ((1,), {"a": 2}), ((1,), {"e": 2}), ((1,), {"f": 2})]
)
def test_what_a_data_class_refuses(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    for made in (Plain, Record):
        with pytest.raises(TypeError):
            made(*values, **named)


def test_nothing_can_be_changed() -> None:
    one = Record(1)
    with pytest.raises(FrozenInstanceError):
        one.a = 2
    with pytest.raises(FrozenInstanceError):
        del one.a
    with pytest.raises(FrozenInstanceError):
        one.other = 2


def test_what_tools_ask() -> None:
    assert [field.name for field in fields(Record)] == [field.name for field in fields(Plain)]
    one, other = inspect.signature(Record), inspect.signature(Plain)
    assert list(one.parameters) == list(other.parameters)
    assert one.parameters["b"].default == "x"
    assert Record.__match_args__ == Plain.__match_args__
    assert not hasattr(Record(1), "__dict__")


def test_without_slots_something_can_be_remembered() -> None:
    @record(frozen=True)
    class Remembering:
        a: int

        @cached_property
        def double(self) -> int:
            return 2 * self.a

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Remembering)

    one = Remembering(3)
    assert (one.double, one.double) == (6, 6)
    assert one == Remembering(4), "its own methods stay"


@record(frozen=True, slots=True)
class Base:
    a: int


@dataclass(frozen=True)
class DataClassOnRecord(Base):
    b: int = 2


@record(frozen=True)
class RecordOnRecord(Base):
    b: int = 2


@pytest.mark.parametrize("kind", [DataClassOnRecord, RecordOnRecord])
def test_what_builds_on_a_record(kind: Any) -> None:
    one = kind(1, b=3)
    assert one == pickle.loads(pickle.dumps(one)) == replace(kind(1), b=3) == copy.copy(one)
    assert hash(one) == hash(kind(1, 3))
    assert one not in (kind(1), Base(1))
    assert str(inspect.signature(kind)) in ("(a: 'int', b: 'int' = 2) -> None", "(a: int, b: int = 2) -> None")
    with pytest.raises(FrozenInstanceError):
        one.b = 4


def test_records_without_equality_are_equal_to_themselves_only() -> None:
    kind = record(frozen=True, eq=False)(type("Alone", (), {"__annotations__": {"a": "int"}, "__doc__": "One."}))
    one, other = kind(1), kind(1)
    assert len({one, other, one}) == 2
    assert one != other

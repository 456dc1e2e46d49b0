"""Records: frozen data classes that compile nothing.

``dataclass(frozen=True)`` writes the source of six functions for each class and compiles it, a millisecond a class: a
seventh of what a run takes to start. Records share their functions. They have the fields, equality, hash and ``repr``
of frozen data classes (without ``eq`` each equals itself only), are such to ``dataclasses.fields``, ``replace`` and
``asdict``, can be pickled, and frozen data classes may build on them. To make one takes some microseconds instead of
one, so what is made for every page stays a data class.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

if TYPE_CHECKING:
    from collections.abc import Callable

    # What a checker has to know of them.
    from dataclasses import dataclass as record
    from inspect import Signature
else:

    def record(*, frozen: bool, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Makes a class a record; named as ``dataclass`` names it, though there are none that are not frozen.

        >>> @record(frozen=True, slots=True)
        ... class Place:
        ...     name: str
        ...     line: int = 0
        >>> Place("a.txt", line=7)
        Place(name='a.txt', line=7)
        >>> from dataclasses import replace
        >>> replace(Place("a.txt"), line=8) == Place("a.txt", 8)
        True
        >>> Place("a.txt").line = 9
        Traceback (most recent call last):
        dataclasses.FrozenInstanceError: cannot assign to field 'line'
        """
        assert frozen, "a record is frozen"
        return lambda cls: _made(cls, slots, eq)


class _Shape:
    """What the functions of all records have to know of one class."""

    __slots__ = ("compared", "defaults", "factories", "finished", "given", "names", "shown")

    def __init__(self, cls: Any) -> None:
        every = fields(cls)
        self.names = tuple(field.name for field in every)
        #: Those that come as arguments; others have a default, or are set at last.
        self.given = tuple(field.name for field in every if field.init)
        self.defaults = {field.name: field.default for field in every if field.default is not MISSING}
        self.factories = {field.name: field.default_factory for field in every if field.default_factory is not MISSING}
        self.compared = tuple(field.name for field in every if field.compare)
        self.shown = tuple(field.name for field in every if field.repr)
        self.finished = hasattr(cls, "__post_init__")


def _made(cls: type, slots: bool, eq: bool) -> type:
    # Where there are no words, ``dataclass`` puts the signature there, and takes milliseconds to find it out.
    cls.__doc__ = cls.__doc__ or cls.__name__
    builds_on_one = any("__record__" in vars(base) for base in cls.__mro__[1:])
    made: Any = dataclass(init=False, repr=False, eq=False, slots=slots, frozen=builds_on_one)(cls)
    # Said afterwards, so that nothing is compiled for it.
    made.__dataclass_params__.frozen = True
    made.__record__ = _Shape(made)
    made.__signature__ = _SIGNATURE
    for function in _FUNCTIONS:
        if function.__name__ not in cls.__dict__ and (eq or function not in (__eq__, __hash__)):
            setattr(made, function.__name__, function)
    result: type = made
    return result


def __init__(self: Any, *values: Any, **named: Any) -> None:
    shape: _Shape = self.__record__
    if len(values) > len(shape.given):
        raise TypeError(f"{type(self).__qualname__} takes {len(shape.given)} values, not {len(values)}")
    known = dict(zip(shape.given, values, strict=False))
    for name, value in named.items():
        if name in known or name not in shape.given:
            raise TypeError(f"{type(self).__qualname__} takes no {name!r}{' twice' * (name in known)}")
        known[name] = value
    for name in shape.names:
        if name in known:
            value = known[name]
        elif name in shape.defaults:
            value = shape.defaults[name]
        elif name in shape.factories:
            value = shape.factories[name]()
        elif name in shape.given:
            raise TypeError(f"{type(self).__qualname__} needs {name!r}")
        else:
            continue
        object.__setattr__(self, name, value)
    if shape.finished:
        self.__post_init__()


def __repr__(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in self.__record__.shown)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__record__.compared)


def __eq__(self: Any, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def __hash__(self: Any) -> int:
    return hash(_compared(self))


def __setattr__(_self: Any, name: str, _value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def __getstate__(self: Any) -> list[Any]:
    # Not the record's names: a data class that builds on it may have more.
    return [getattr(self, field.name) for field in fields(self)]


def __setstate__(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FUNCTIONS = (__init__, __repr__, __eq__, __hash__, __setattr__, __delattr__, __getstate__, __setstate__)


class _SignatureOf:
    """The signature of a record, made when somebody asks for it: an editor, ``help``."""

    def __get__(self, _instance: object, cls: Any) -> Signature:
        from inspect import Parameter, Signature

        def parameter(field: Field[Any]) -> Parameter:
            stated = (field.default, field.default_factory)
            default = next((value for value in stated if value is not MISSING), Parameter.empty)
            return Parameter(field.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=field.type)

        return Signature([parameter(field) for field in fields(cls) if field.init], return_annotation=None)


_SIGNATURE = _SignatureOf()

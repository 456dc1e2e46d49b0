"""A language as the generated web speaks it: vocabularies by topic, sentence patterns, words of an interface.

The grammar is small on purpose. Nouns are plural and verbs agree with them, so one pattern fits every noun;
in German, French and Russian the words are chosen such that the plural has the same form as subject and as
object and adjectives do not depend on gender. What makes texts look real to a detector is burstiness: a
writer keeps to a few nouns, verbs and names of its topic, and another writer to others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from string import Formatter

from neardup.testing.dice import Dice


@dataclass(frozen=True, slots=True)
class Topic:
    """What a text can be about: plural nouns, and verbs that take one noun as subject and one as object."""

    name: str
    nouns: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The words of one language. ``space`` is what stands between sentences: nothing in Japanese."""

    code: str
    space: str
    topics: tuple[Topic, ...]
    adjectives: tuple[str, ...]
    #: With their preposition, where the language has one.
    places: tuple[str, ...]
    times: tuple[str, ...]
    people: tuple[str, ...]
    families: tuple[str, ...]
    #: Patterns over {adjective} {noun} {verb} {place} {time} {person} {company} {number}.
    sentences: tuple[str, ...]
    headlines: tuple[str, ...]
    #: Legal and general remarks that sites repeat on every page.
    boilerplate: tuple[str, ...]
    #: The words of an interface, by their key; the same keys in every language.
    words: Mapping[str, str] = field(repr=False)
    #: How a person's name is joined: "{first} {last}".
    name: str = "{first} {last}"


def vocabulary(text: str) -> tuple[str, ...]:
    """The entries of a list written with commas, for vocabularies that can be read and checked.

    >>> vocabulary("stone bridges, harbour walls,\\n    tide tables")
    ('stone bridges', 'harbour walls', 'tide tables')
    """
    return tuple(" ".join(entry.split()) for entry in text.split(","))


@cache
def _pieces(pattern: str) -> tuple[tuple[str, str], ...]:
    """A pattern taken apart once: literal text, and the slot that follows it (or nothing)."""
    return tuple((literal, slot or "") for literal, slot, _, _ in Formatter().parse(pattern))


_SYLLABLES = vocabulary(
    "ar, bel, cor, dan, el, far, gal, hol, in, jor, kal, lum, mar, nor, ol, per, quin, "
    "ros, sel, tor, ul, var, wel, xan, yor, zel"
)
_ENDINGS = vocabulary("a, ex, ia, io, is, on, or, um, us, yn")


class Writer:
    """Writes sentences about one topic, keeping to a few of its words and to a few names.

    With ``about``, to the topic and the names of another writer, as several pages that answer one query do.

    >>> from neardup.testing.english import ENGLISH
    >>> writer = Writer(ENGLISH, Dice(5, "doctest"))
    >>> writer.sentence().endswith(".")
    True
    """

    def __init__(self, language: Language, dice: Dice, about: Writer | None = None) -> None:
        self.language, self.dice = language, dice
        self.topic: Topic = about.topic if about else dice.pick(language.topics)
        self.nouns = dice.sample(self.topic.nouns, 9)
        if about and about.nouns[0] not in self.nouns:
            self.nouns[0] = about.nouns[0]
        self.verbs = dice.sample(self.topic.verbs, 6)
        self.adjectives = dice.sample(language.adjectives, 9)
        self.places = dice.sample(language.places, 3)
        self.names = [
            language.name.format(first=first, last=last)
            for first, last in zip(dice.sample(language.people, 3), dice.sample(language.families, 3), strict=True)
        ]
        self.companies: list[str] = list(about.companies) if about else [self._new_company() for _ in range(3)]
        self._slots: dict[str, Callable[[], str]] = {
            "noun": self._cycle(self.nouns),
            "verb": self._cycle(self.verbs),
            "adjective": self._cycle(self.adjectives),
            "place": self._cycle(self.places),
            "time": self._cycle(language.times),
            "person": self._cycle(self.names),
            "company": self._cycle(self.companies),
            "number": lambda: str(dice.between(2, 980)),
        }

    def _cycle(self, choices: Sequence[str]) -> Callable[[], str]:
        """Random choices, never the same one twice running: "ferries replace ferries" gives a text away."""
        random, others, last = self.dice.random, len(choices) - 1, 0

        def draw() -> str:
            nonlocal last
            last = (last + 1 + int(random() * others)) % len(choices)
            return choices[last]

        return draw

    def _new_company(self) -> str:
        dice = self.dice
        return (dice.pick(_SYLLABLES) + dice.pick(_SYLLABLES) + dice.pick(_ENDINGS)).capitalize()

    def fill(self, pattern: str) -> str:
        """The pattern with each of its slots filled in, its first letter in upper case."""
        slots = self._slots
        text = "".join([literal + slots[slot]() if slot else literal for literal, slot in _pieces(pattern)])
        return text[:1].upper() + text[1:]

    def sentence(self) -> str:
        """One sentence with its full stop."""
        return self.fill(self.dice.pick(self.language.sentences))

    def paragraph(self, sentences: int) -> str:
        """Several sentences."""
        return self.language.space.join([self.sentence() for _ in range(sentences)])

    def headline(self) -> str:
        """A title, without a full stop."""
        return self.fill(self.dice.pick(self.language.headlines))

"""The private aggregates of aggregates.tsv, and the types of values of value_types.tsv."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple


def rows_of(file: str) -> List[List[str]]:
    lines = (Path(__file__).parent / file).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@dataclass(frozen=True)
class ValueType:
    name: str
    kind: str  # numbers, times or other
    lower: str
    upper: str

    def literal(self, value: str) -> str:
        """Without a type for numbers, as an analyst writes them."""
        return value if self.kind == "numbers" else f"{self.name} '{value}'"


VALUE_TYPES = {row[0]: ValueType(*row) for row in rows_of("value_types.tsv")}


@dataclass(frozen=True)
class PrivateAggregate:
    form: str    # a call, with VALUE, USER, GRID, EPSILON, LOWER and UPPER
    values: str
    number: str  # of an answer a
    options: Tuple[str, ...]
    methods: Tuple[str, ...]

    @property
    def name(self) -> str:
        return self.form.split("(")[0]

    @property
    def of_users(self) -> bool:
        return "USER" in self.form

    @property
    def types(self) -> List[str]:
        """Of the values; none for a number of rows."""
        kinds = self.values.split()
        return [name for name, type in VALUE_TYPES.items() if "all" in kinds or name in kinds or type.kind in kinds]

    def call(self, value: str, epsilon: str = "1", options: str = "", type: str = "float8", user: str = "u", grid: str = "'a'") -> str:
        """A call of values of a type, with its bounds; options: SQL."""
        of = VALUE_TYPES[type]
        terms = {"VALUE": value, "USER": user, "GRID": grid, "EPSILON": epsilon, "LOWER": of.literal(of.lower), "UPPER": of.literal(of.upper)}
        text = re.sub("VALUE|USER|GRID|EPSILON|LOWER|UPPER", lambda name: terms[name[0]], self.form)
        return f"{text[:-1]}, {options})" if options else text


def listed(text: str) -> Tuple[str, ...]:
    return () if text == "-" else tuple(text.split(", "))


AGGREGATES = [PrivateAggregate(form, values, number, listed(options), listed(methods))
              for form, values, number, options, methods in rows_of("aggregates.tsv")]

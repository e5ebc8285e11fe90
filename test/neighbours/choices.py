"""What the parts of the grammar share: randomness, the grammars of expressions, the tables, names, and the near miss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Dict, List, Optional, Sequence, TypeVar

from expressions import Expressions

MISS_SHARE = 0.3  # of the queries
# How much more often a near miss is tried that has always been accepted
ACCEPTED_WEIGHT = 30

MISSES_IN_DERIVED = ["limit in source", "distinct in source", "window in source", "union in source", "set-returning source",
                     "order in source", "group in source"]
MISSES_IN_GROUPS = ["order of a person's rows"]
# Joins by a column to a table that may have several rows for it, or is not public: FROM, with an alias for {}, and the column
REFUSED_TABLES = {
    "join to a parent": ("town AS {}", "id"),
    "join without a key": ("loose AS {}", "id"),
    "join by a partial index": ("partial AS {}", "id"),
    "join by an invalid index": ("broken AS {}", "id"),
    "join by a part of a key": ("pair AS {}", "a"),
    "join by a deferrable key": ("late AS {}", "id"),
    "join to a table of one's own": ("own.city AS {}", "id"),
    "join to a view": ("city_view AS {}", "id"),
    "join to values": ("(VALUES (1), (2), (2)) AS {} (id)", "id"),
    "join to a function": ("regexp_split_to_table('1,1', ',') AS {} (id)", "id::int4"),
    "join to a list": ("unnest('{{1,2,2}}'::int[]) AS {} (id)", "id"),
}
MISSES_IN_JOIN = [*REFUSED_TABLES, "full join", "cross join", "right join", "range join", "self join", "join by a constant",
                  "join condition with or", "lateral source"]
# Joins of tables of a unit in which a row may be of several users, or the other table may be of another unit
MISSES_IN_UNIT = ["unit join by another column", "unit join by a range", "unit join by an expression", "unit join with or", "unit join in where",
                  "full unit join", "cross unit join", "unit self join", "join to another unit"]
MISSES_IN_KEPT_KEYS = ["no selection", "selection or true", "not selection", "exact having", "system column key", "whole row key",
                       "key with several looks", "failing condition on a key"]
MISSES_IN_PUBLIC_KEYS = ["condition on protected rows", "value of an absent row", "inner unit join after a public side"]
MISSES_IN_BLOCK = ["refused aggregate", "column as parameter", "grouping sets", "row locks", "distinct block", "set-returning item",
                   "window in block", "window clause in block", "other user", "aggregate of rows", "exists block", "sample in source"]
MISSES_OUTSIDE = ["rows outside", "row in sublink", "in block", "own function outside", "two protected tables", "join rows and answers",
                  "union of rows"]
MISSES = (MISSES_IN_DERIVED + MISSES_IN_GROUPS + MISSES_IN_JOIN + MISSES_IN_UNIT + MISSES_IN_KEPT_KEYS + MISSES_IN_PUBLIC_KEYS + MISSES_IN_BLOCK + MISSES_OUTSIDE)
Element = TypeVar("Element")


@dataclass(frozen=True)
class Protected:
    """A protected table or view."""

    name: str
    columns: Dict[str, str]
    user_column: Optional[str] = None
    most_rows: Optional[int] = None  # of a user; None: aggregates of rows are refused
    in_unit: bool = False  # whether it may be joined with the other tables of the unit


class Choices:
    def __init__(self, random: Random, inside: Expressions, outside: Expressions, tables: Sequence[Protected],
                 small: Sequence[Protected]):
        self.random = random
        self.inside = inside
        self.outside = outside
        self.tables = tables
        self.small = small  # the tables of trees.py
        self.focus = tables[0]  # the table in which the neighbours differ
        self.changed: Dict[str, str] = {}  # values of the row in which they do
        self.changed_row_share = 0.0  # of the conditions
        self.in_rho = False  # whether the budget is; then it pays for no delta
        self.may_have_stages = False  # whether subqueries of answers, which are asked first, have the same ones in both databases
        self.miss: Optional[str] = None
        self.has_missed = False
        self.names = 0
        self.tried = Counter(MISSES)
        self.accepted: "Counter[str]" = Counter()

    def begin_query(self) -> None:
        self.names = 0
        self.has_missed = False
        self.miss = self.random_miss() if self.chance(MISS_SHARE) else None

    def random_miss(self) -> str:
        """A near miss. If one is accepted, it is tried more often."""
        weights = [1 + ACCEPTED_WEIGHT * self.accepted[miss] / self.tried[miss] for miss in MISSES]
        return self.random.choices(MISSES, weights)[0]

    def end_query(self, is_accepted: bool) -> None:
        if self.miss is not None and self.has_missed:
            self.tried[self.miss] += 1
            self.accepted[self.miss] += is_accepted

    def misses(self, name: str) -> bool:
        """Whether the query is to have this near miss, which the caller then makes."""
        if self.miss == name:
            self.has_missed = True
        return self.miss == name

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one_of(self, elements: Sequence[Element]) -> Element:
        return self.random.choice(elements)

    def some_of(self, elements: Sequence[Element], least: int, most: int) -> List[Element]:
        return self.random.sample(list(elements), min(len(elements), self.random.randint(least, most)))

    def new_name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def table(self) -> Protected:
        return self.focus if self.chance(0.85) else self.one_of(self.tables)

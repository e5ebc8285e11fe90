"""Queries as trees. The grammar builds them, the shrinker drops parts of them, and each knows what of it depends on answers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import Iterator, Optional, Tuple, Union


@dataclass(frozen=True)
class Expr:
    """An expression. Each # in its text stands for the next child."""

    rule: str  # what the report calls it
    text: str
    type: str
    children: Tuple["Tree", ...] = ()
    is_answer: bool = False  # a private answer, or the column of an inner query that has one
    bound: Optional[float] = None  # the most by which the exact answer differs between neighbours
    exact: str = ""  # the text in its place with which the owner computes the exact answer

    def sql(self) -> str:
        if not self.children:
            return self.text
        texts = self.text.split("#")
        return texts[0] + "".join(child.sql() + text for child, text in zip(self.children, texts[1:]))


@dataclass(frozen=True)
class Item:
    """A column of a select list."""

    expr: Expr
    name: str
    is_exact: bool = False  # only the owner's exact query has it (exact.py)

    def sql(self) -> str:
        return f"{self.expr.sql()} AS {self.name}"


@dataclass(frozen=True)
class Table:
    """A table, view or CTE in FROM."""

    name: str
    alias: str

    def sql(self) -> str:
        return f"{self.name} AS {self.alias}"


@dataclass(frozen=True)
class Text:
    """A part of FROM as it is written."""

    text: str

    def sql(self) -> str:
        return self.text


@dataclass(frozen=True)
class Derived:
    """A query in FROM."""

    query: "Query"
    alias: str
    lateral: str = ""

    def sql(self) -> str:
        return f"{self.lateral}({self.query.sql()}) AS {self.alias}"


@dataclass(frozen=True)
class Join:
    left: "Source"
    kind: str
    right: "Source"
    conditions: Tuple[Expr, ...]
    using: str = ""  # in the place of ON

    def sql(self) -> str:
        right = f"({self.right.sql()})" if isinstance(self.right, Join) else self.right.sql()
        if self.kind == ",":
            return f"{self.left.sql()}, {right}"
        on = "" if self.kind == "CROSS" or self.kind.startswith("NATURAL") else self.using or " ON " + conjunction(self.conditions)
        return f"{self.left.sql()} {self.kind} JOIN {right}{on}"


@dataclass(frozen=True)
class Select:
    """A query level. Its kind is for the report."""

    kind: str
    items: Tuple[Item, ...]
    source: Optional["Source"] = None
    where: Tuple[Expr, ...] = ()
    group: Tuple[Expr, ...] = ()
    having: Tuple[Expr, ...] = ()
    order: Tuple[Expr, ...] = ()
    limit: str = ""
    distinct: str = ""
    suffix: str = ""

    def sql(self) -> str:
        parts = [f"SELECT {self.distinct}{', '.join(item.sql() for item in self.items if not item.is_exact)}"]
        if self.source is not None:
            parts.append(f"FROM {self.source.sql()}")
        if self.where:
            parts.append("WHERE " + conjunction(self.where))
        if self.group:
            parts.append("GROUP BY " + ", ".join(key.sql() for key in self.group))
        if self.having:
            parts.append("HAVING " + conjunction(self.having))
        if self.order:
            parts.append("ORDER BY " + ", ".join(key.sql() for key in self.order))
        return " ".join(parts + [part for part in (self.limit, self.suffix) if part])


@dataclass(frozen=True)
class SetOperation:
    operator: str
    branches: Tuple["Query", ...]

    def sql(self) -> str:
        return f" {self.operator} ".join(f"({branch.sql()})" for branch in self.branches)


@dataclass(frozen=True)
class Cte:
    name: str
    query: "Query"
    materialized: str = ""

    def sql(self) -> str:
        return f"{self.name} AS {self.materialized}({self.query.sql()})"


@dataclass(frozen=True)
class With:
    ctes: Tuple[Cte, ...]
    query: "Query"

    def sql(self) -> str:
        if not self.ctes:
            return self.query.sql()
        return f"WITH {', '.join(cte.sql() for cte in self.ctes)} {self.query.sql()}"


Source = Union[Table, Text, Derived, Join]
Query = Union[Select, SetOperation, With]
Tree = Union[Expr, Item, Source, Query, Cte]


def conjunction(conditions: Tuple[Expr, ...]) -> str:
    return " AND ".join(condition.sql() for condition in conditions) or "true"


@lru_cache(maxsize=None)
def fields_in_reverse(kind: type) -> Tuple[str, ...]:
    """The fields of a kind of tree; none of what is no tree."""
    return tuple(field.name for field in reversed(dataclasses.fields(kind))) if dataclasses.is_dataclass(kind) else ()


def walk(tree: object) -> Iterator[object]:
    """The tree and all trees in it."""
    left = [tree]
    while left:
        part = left.pop()
        if isinstance(part, tuple):
            left.extend(reversed(part))
            continue
        names = fields_in_reverse(type(part))
        if names:
            yield part
            left.extend([getattr(part, name) for name in names])


def depends_on_answers(tree: object) -> bool:
    return any(isinstance(part, Expr) and part.is_answer for part in walk(tree))


def items_of(query: Query) -> Tuple[Item, ...]:
    """The columns of a query; those of a set operation are the columns of its first branch."""
    if isinstance(query, Select):
        return tuple(item for item in query.items if not item.is_exact)
    if isinstance(query, With):
        return items_of(query.query)
    return items_of(query.branches[0]) if query.branches else ()

"""Makes a query smaller while something about it stays true."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator

from sql_tree import Derived, Expr, Join, Query, Select, With

MOST_TRIALS = 600


def smaller(tree: Any) -> Iterator[Any]:
    """The trees that come from this one by one step: without an element of a list, or with a part in the place of the whole."""
    if isinstance(tree, tuple):
        for index, element in enumerate(tree):
            yield tree[:index] + tree[index + 1:]
            for other in smaller(element):
                yield tree[:index] + (other,) + tree[index + 1:]
    elif dataclasses.is_dataclass(tree):
        yield from simpler(tree)
        for field in dataclasses.fields(tree):
            if isinstance(tree, Expr) and field.name == "children":
                yield from with_smaller_children(tree)
                continue
            for value in smaller(getattr(tree, field.name)):
                yield dataclasses.replace(tree, **{field.name: value})


def with_smaller_children(expr: Expr) -> Iterator[Expr]:
    """The number of children must stay that of the holes in the text."""
    for index, child in enumerate(expr.children):
        for other in smaller(child):
            yield dataclasses.replace(expr, children=expr.children[:index] + (other,) + expr.children[index + 1:])


def simpler(tree: Any) -> Iterator[Any]:
    """Parts that may stand in the place of the tree, and the tree without what is optional."""
    if isinstance(tree, Expr):
        yield from (child for child in tree.children if isinstance(child, Expr) and child.type == tree.type)
    if isinstance(tree, Join):
        yield from (tree.left, tree.right)
    if isinstance(tree, With):
        yield from (cte.query for cte in tree.ctes)
    if isinstance(tree, Select):
        if isinstance(tree.source, Derived):
            yield tree.source.query
        yield from (dataclasses.replace(tree, **{name: ""}) for name in ("limit", "distinct", "suffix") if getattr(tree, name))


def shrink(query: Query, still_differs: Callable[[Query], bool]) -> Query:
    """A query from which nothing can be dropped, or the best after MOST_TRIALS trials."""
    trials = 0
    found = True
    while found:
        found = False
        for candidate in smaller(query):
            if len(candidate.sql()) >= len(query.sql()):
                continue
            trials += 1
            if trials > MOST_TRIALS:
                return query
            if still_differs(candidate):
                query, found = candidate, True
                break
    return query

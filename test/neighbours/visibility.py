"""What of a query's result must be equal on neighbours, as far as the query itself says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import aggregates
from sql_tree import Expr, Join, Query, Select, SetOperation, With, depends_on_answers, items_of, walk

BLOCKS = ("without keys", "kept keys", "public keys", "block over a tree", "block by computed keys", "plain block over a tree", "plain block by chosen keys",
          "plain block by keys of public tables")
UNEVEN = {aggregate.text for aggregate in aggregates.OF_ROWS + aggregates.IN_RHO + aggregates.OF_USERS if not aggregate.draws_evenly}


@dataclass(frozen=True)
class Visibility:
    """The columns, and whether answers decide which rows there are, or their order."""

    is_public: Tuple[bool, ...]
    bounds: Tuple[Optional[float], ...]
    answers_choose_rows: bool
    answers_choose_order: bool
    draws_evenly: bool  # fixed noise is the same for each answer, whatever the data are
    is_block: bool      # one release: a row of the data is in at most one group


def visibility_of(query: Query) -> Visibility:
    items = items_of(query)
    order_depends = any(isinstance(part, Select) and depends_on_answers(part.order) for part in walk(query))
    return Visibility(
        tuple(not depends_on_answers(item) for item in items),
        tuple(item.expr.bound for item in items),
        any(chooses_rows(part) for part in walk(query)) or (order_depends and any(is_limited(part) for part in walk(query))),
        order_depends,
        not any(takes_other_noise(part) for part in walk(query)),
        is_block(query.query if isinstance(query, With) else query))


def is_block(query: Query) -> bool:
    return isinstance(query, Select) and query.kind in BLOCKS


def is_limited(part: object) -> bool:
    return isinstance(part, Select) and bool(part.limit)


def takes_other_noise(part: object) -> bool:
    """Whether data may decide which random number an answer gets: groups draw theirs in the order in which they are read."""
    return isinstance(part, Expr) and part.rule in UNEVEN or isinstance(part, Select) and bool(part.group)


def chooses_rows(part: object) -> bool:
    """Whether this part of a query has rows that depend on answers."""
    if isinstance(part, Join):
        return depends_on_answers(part.conditions)
    if isinstance(part, SetOperation):
        return part.operator != "UNION ALL" and depends_on_answers(items_of(part))
    if not isinstance(part, Select):
        return False
    return depends_on_answers(part.where + part.having + part.group) or bool(part.distinct and depends_on_answers(part.items))

"""What the owner computes without noise in the place of a block over a tree of FROM (trees.py)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any, Optional

from sql_tree import Expr, Item, Query, Select, Table, With, walk

OF_LONG_IDS = ("notes", "slips")


@dataclass(frozen=True)
class Exact:
    """The owner's queries: the exact answers, and the persons of whom a private query does not see all rows."""

    answers: str
    limited: Optional[str]


def exact(query: Query) -> Optional[Exact]:
    """None if the exact answers may be others: dp_keep_group decides which groups there are, LIMIT which are shown, not all aggregates have an
    exact one, and an id that is too long to be read is NULL in expressions."""
    block = query.query if isinstance(query, With) else query
    if not isinstance(block, Select) or block.kind != "block over a tree" or block.limit:
        return None
    if any(isinstance(part, Expr) and part.is_answer and not part.exact or isinstance(part, Expr) and part.rule == "dp_keep_group" for part in walk(block)):
        return None
    if any(isinstance(part, Table) and part.name in OF_LONG_IDS for part in walk(query)):
        return None
    block = shown(block)
    user = next((item.expr for item in block.items if item.name == "whose"), None)
    answers = replace(block, items=tuple(item for item in block.items if item.name != "whose"))
    if user is None:
        return Exact(around(query, answers), None)
    limited = Select("persons", (Item(user, "person"),), block.source, block.where, (user,),
                     (Expr("more", f"{user.sql()} IS NOT NULL AND count(*) > {user.bound}", "bool"),))
    return Exact(around(query, answers), around(query, limited))


def around(query: Query, block: Select) -> str:
    return shown(replace(query, query=block)).sql() if isinstance(query, With) else block.sql()


def shown(tree: Any) -> Any:
    """The tree with exact aggregates, and with the items that only exact queries have."""
    if isinstance(tree, tuple):
        return tuple(shown(part) for part in tree)
    if not dataclasses.is_dataclass(tree) or isinstance(tree, type):
        return tree
    changes = {field.name: shown(getattr(tree, field.name)) for field in dataclasses.fields(tree)}
    if isinstance(tree, Item):
        changes["is_exact"] = False
    if isinstance(tree, Expr) and tree.exact:
        changes.update(text=tree.exact, exact="")
    return replace(tree, **changes)

"""What the owner computes without noise in the place of a block over a tree of FROM (trees.py)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any, Optional, Sequence

from person_groups import OTHER_PERSON, ROUNDED
from person_windows import IN_ORDER
from plain import ALSO_NULL, BY_TABLES, ERROR, OF_PUBLIC_ROWS, OF_TABLE, PLAIN
from public_levels import has_stages
from sql_tree import Expr, Item, Query, Select, Table, With, walk

OF_LONG_IDS = ("notes", "slips")
WITHOUT_LIST = ("busy_clients", "high_beds", "own_orders")  # Groups by its level are chosen.
# Rows of which a query reads no column but readable ones are public ones, also those of nobody.
PARTLY_READABLE = ("passes",)
# Tables whose list of levels has NULL, or a key for all others (protect.sql)
OF_OTHER_KEYS = ("calls", "beds", "trips", "orders", "clients", "known_meals")
# Levels in which the rows of nobody are left out
OF_PERSONS = ("persons", "distinct persons", "references", "distinct references", "windows", "numbered rows", "first rows", "query of a set")


@dataclass(frozen=True)
class Exact:
    """The owner's queries: the exact answers, and the persons of whom a private query does not see all rows."""

    answers: str
    limited: Optional[str]
    shows_list: bool = False  # whether the private query also shows groups of a list, or of public names, that have no rows


def exact(query: Query) -> Optional[Exact]:
    """None if the exact answers may be others: dp_keep_group decides which groups there are, LIMIT which are shown, not all aggregates have an
    exact one, an id that is too long to be read is NULL in expressions, rows with equal keys come in an order of the extension's own, and a list with NULL or
    with a key for others has rows that the keys alone do not tell."""
    block = query.query if isinstance(query, With) else query
    if not isinstance(block, Select) or block.kind not in ("block over a tree", "block by computed keys", PLAIN, BY_TABLES) or block.limit:
        return None
    if has_stages(query) or any(has_other_answers(part) for part in walk(query)) or sums_beyond_bounds(query):
        return None
    # Names of a joined public table are groups without a row, too.
    shows_list = bool(block.group)
    listed = [key for key in block.group if key.rule != OF_TABLE]
    if listed and block.kind != "block over a tree":
        if any(isinstance(part, Table) and part.name in OF_OTHER_KEYS + WITHOUT_LIST for part in walk(query)):
            return None
        # Rows without a key are in no group.
        block = replace(block, where=(*block.where, *(Expr("key", "# IS NOT NULL", "bool", (key,)) for key in listed)))
    block = shown(replace(block, items=tuple(replace(item, expr=of_a_key(item.expr, block.group)) for item in block.items)))
    user = next((item.expr for item in block.items if item.name == "whose"), None)
    answers = replace(block, items=tuple(item for item in block.items if item.name != "whose"))
    if user is None:
        return Exact(around(query, answers), None, shows_list)
    persons = Select("persons of rows", (Item(user, "person"),), block.source, block.where)
    limited = f"SELECT person FROM ({around(query, persons)}) AS p WHERE person IS NOT NULL GROUP BY person HAVING count(*) > {user.bound}"
    return Exact(around(query, answers), limited, shows_list)


def of_a_key(expr: Expr, keys: Sequence[Expr]) -> Expr:
    """The bounds of a key are the key."""
    return replace(expr, exact="") if expr.text in ("min(#)", "max(#)") and expr.children[0] in keys else expr


def has_other_answers(part: object) -> bool:
    if isinstance(part, Expr):
        return part.is_answer and not part.exact or part.rule in ("dp_keep_group", IN_ORDER, ROUNDED, OTHER_PERSON, ALSO_NULL, OF_PUBLIC_ROWS) or part.text.startswith(ERROR)
    if isinstance(part, Select):
        return part.kind == "first rows without order"
    return isinstance(part, Table) and part.name in OF_LONG_IDS + PARTLY_READABLE


def sums_beyond_bounds(query: Query) -> bool:
    """A level of fed_beds is a number of meals, which may be above the bounds of the column."""
    parts = list(walk(query))
    return any(isinstance(part, Table) and part.name == "fed_beds" for part in parts) and any(isinstance(part, Expr) and part.text.startswith("sum(#)") for part in parts)


def around(query: Query, block: Select) -> str:
    return shown(replace(query, query=block)).sql() if isinstance(query, With) else block.sql()


def shown(tree: Any) -> Any:
    """The tree with exact aggregates, and with the items that only exact queries have."""
    if isinstance(tree, tuple):
        return tuple(shown(part) for part in tree)
    if not dataclasses.is_dataclass(tree) or isinstance(tree, type):
        return tree
    changes = {field.name: shown(getattr(tree, field.name)) for field in dataclasses.fields(tree)}
    if isinstance(tree, Select) and tree.kind in OF_PERSONS:
        whose = next(item.expr for item in tree.items if item.name == "whose")
        changes.update(kind="rows of persons", where=(*changes["where"], Expr("of a person", f"{(whose.children or (whose,))[0].sql()} IS NOT NULL", "bool")))
    if isinstance(tree, Item):
        changes["is_exact"] = False
    if isinstance(tree, Expr) and tree.exact:
        changes.update(text=tree.exact, exact="")
    return replace(tree, **changes)

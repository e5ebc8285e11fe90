"""Set operations of rows of persons: UNION ALL, and UNION, INTERSECT and EXCEPT whose columns contain the person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, List, Optional, Tuple

import references
from expressions import Column
from person_groups import OTHER_PERSON
from sql_tree import Derived, Expr, Item, Select, SetOperation

if TYPE_CHECKING:
    from trees import Part, Trees

# Types of columns of which PostgreSQL makes one, and which look the same then
ALIKE = {"int4": "integer", "int8": "integer"}
OF_GROUPS = ("UNION", "INTERSECT", "EXCEPT", "UNION")
REFUSED = ("INTERSECT ALL", "EXCEPT ALL")
UNION_ALL_SHARE = 0.5
MISS_SHARE = 0.06
MORE_SHARE = 0.2  # of the operations with a third query


class PersonSets:
    def __init__(self, trees: "Trees"):
        self.trees = trees
        self.choices = trees.choices

    def union(self, part: "Part") -> Optional["Part"]:
        """A set operation of a part and others, as a derived table."""
        parts = [part, *(other for other in (self.other(part) for _ in range(2 if self.choices.chance(MORE_SHARE) else 1)) if other is not None)]
        if len(parts) == 1:
            return None
        operators = [self.operator() for _ in parts[1:]]
        if len(set(operators)) > 1:
            operators = operators[:1] * len(operators)
        others = self.common_columns(parts)
        shows_person = operators[0] != "UNION ALL" or self.choices.chance(0.8)
        if not shows_person and not others[0]:
            shows_person = True
        names = (("patient",) if shows_person else ()) + tuple(self.choices.new_name("k") for _ in others[0])
        branches = tuple(self.branch(one, shows_person, columns, names) for one, columns in zip(parts, others))
        return self.outside(parts, branches, operators[0], names)

    def operator(self) -> str:
        if self.choices.chance(MISS_SHARE):
            return self.choices.one_of(REFUSED)
        return "UNION ALL" if self.choices.chance(UNION_ALL_SHARE) else self.choices.one_of(OF_GROUPS)

    def other(self, part: "Part") -> Optional["Part"]:
        """Rows of another table of the unit, or of one that the tree reads."""
        names = [name for name in self.trees.in_subqueries if name not in references.USERS]
        if not names:
            return None
        name = self.choices.one_of(names)
        self.trees.use(name)
        other = self.trees.table_named(name)
        if self.choices.chance(0.3):
            other = self.trees.derived(other, self.trees.level_of_persons(other) if self.choices.chance(0.6) else None)
        return other if other.persons else None

    def common_columns(self, parts: List["Part"]) -> List[List[Column]]:
        """As many columns of each part, of alike types."""
        found: List[List[Column]] = [[] for _ in parts]
        for column in self.choices.some_of(parts[0].columns, 0, 2):
            if column in parts[0].users:
                continue
            alike = [[one for one in part.columns if ALIKE.get(one.type, one.type) == ALIKE.get(column.type, column.type) and one not in part.users] for part in parts[1:]]
            if all(alike):
                for columns, one in zip(found, [column, *(self.choices.one_of(same) for same in alike)]):
                    columns.append(one)
        return found

    def branch(self, part: "Part", shows_person: bool, columns: List[Column], names: Tuple[str, ...]) -> Select:
        person = self.choices.one_of(part.persons).expr()
        if self.choices.chance(MISS_SHARE):
            person = replace(self.choices.one_of(part.columns).expr(), rule=OTHER_PERSON)
        exprs = ((person,) if shows_person else ()) + tuple(column.expr() for column in columns)
        if columns and exprs[-1].type in ALIKE and self.choices.chance(0.1):
            exprs = (*exprs[:-1], Expr("constant", str(self.choices.random.randint(1, 4)), exprs[-1].type))
        source, where = self.trees.as_list(part)
        where += self.trees.conditions(self.trees.columns_of_where(part), 0.3) + self.trees.subqueries.conditions(part, 0.1)
        assert part.user is not None
        # Nobody is in no group; the owner's query knows the person of each row.
        whose = Item(part.user.expr(), "whose", is_exact=True)
        limit = self.choices.one_of(["LIMIT 3", "ORDER BY 1 LIMIT 5"]) if self.choices.chance(0.02) else ""
        return Select("query of a set" if limit == "" else "query of a set with a limit", tuple(Item(expr, name) for expr, name in zip(exprs, names)) + (whose,), source, where, limit=limit)

    def outside(self, parts: List["Part"], branches: Tuple[Select, ...], operator: str, names: Tuple[str, ...]) -> "Part":
        alias = self.choices.new_name("t")
        types = [item.expr.type for item in branches[0].items if not item.is_exact]
        columns = tuple(Column(f"{alias}.{name}", kind) for name, kind in zip(names, types))
        persons = columns[:1] if names[0] == "patient" else ()
        is_all = operator == "UNION ALL"
        most = sum(1 if part.has_one_row else part.most_rows for part in parts)
        first = parts[0]
        has_one_row = not is_all and len(columns) == 1
        return replace(first, source=Derived(SetOperation(operator, branches), alias), columns=columns, users=persons or columns[:1],
                       user=Column(f"{alias}.whose", "int8"), public=(), where=(), keys=(), persons=persons, of_groups=(), has_one_row=has_one_row, side=(), links=(),
                       most_rows=most, group_of="")

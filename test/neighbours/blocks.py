"""Release blocks: query levels with private aggregates over protected rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Dict, Optional, Sequence, Tuple

import aggregates
from aggregates import Aggregate
from choices import MISSES_IN_JOIN, MISSES_IN_KEPT_KEYS, MISSES_IN_PUBLIC_KEYS, Choices
from expressions import Column, columns_of, quoted
from sources import GROUP_COLUMNS, KEY_TYPES, Rows, Sources
from sql_tree import Cte, Expr, Item, Join, Query, Select, SetOperation, Table, With, depends_on_answers


class Blocks:
    def __init__(self, choices: Choices):
        self.choices = choices
        self.sources = Sources(choices)

    def block(self, columns: int = 0) -> Select:
        """A release block, with at least as many columns if the number is given."""
        rows = self.sources.rows()
        shape = self.choices.one_of(self.shapes_of(rows))
        return self.with_miss(shape(rows, columns))

    def shapes_of(self, rows: Rows) -> Sequence[Callable[[Rows, int], Select]]:
        """Those that go with the rows and have the intended near miss."""
        if self.choices.miss in MISSES_IN_KEPT_KEYS:
            return [self.with_kept_keys]
        if rows.keyed() and self.choices.miss in MISSES_IN_PUBLIC_KEYS:
            return [self.with_public_keys]
        kept_keys = [] if self.choices.in_rho else [self.with_kept_keys]
        has_public_keys = rows.keyed() and self.choices.miss not in MISSES_IN_JOIN
        return [self.without_keys, *kept_keys] + ([self.with_public_keys] if has_public_keys else [])

    def block_over_cte(self) -> Query:
        """A block, or several, over a CTE of rows."""
        # The statistics of all tables differ, not only those of the table with the changed row.
        stored = self.sources.stored_rows(self.choices.one_of(self.choices.tables))
        query, rows = self.sources.projection(stored)
        if isinstance(query, Select):
            query = replace(query, where=query.where + self.sources.range_by_parameter(stored.columns, 0.7))
        cte = Cte(rows.alias, query, self.choices.one_of(["", "NOT MATERIALIZED ", "MATERIALIZED "]))
        if self.choices.chance(0.3):
            return With((cte,), SetOperation("UNION ALL", (self.as_text(rows), self.as_text(rows))))
        return With((cte,), (self.without_keys if self.choices.in_rho or self.choices.chance(0.5) else self.with_kept_keys)(rows, 0))

    def as_text(self, rows: Rows) -> Select:
        """A block with one answer, as a text."""
        block = self.without_keys(rows, 0)
        answer = Expr("answer as text", "(#)::text", "text", (block.items[0].expr,))
        return replace(block, items=(Item(answer, "answer"),))

    # ---- aggregates

    def aggregate(self, rows: Rows, depth: int = 1) -> Expr:
        of_users = rows.user and not self.choices.misses("aggregate of rows")
        among = aggregates.OF_USERS if of_users else aggregates.OF_ROWS
        if of_users and rows.most_rows and self.choices.chance(0.8):
            among = aggregates.OF_LIMITED_ROWS
            of_users = False
        if self.choices.in_rho and not of_users:
            among = aggregates.IN_RHO if self.choices.chance(0.7) else aggregates.OF_LIMITED_ROWS
        if self.choices.misses("refused aggregate"):
            among = aggregates.REFUSED
        if self.choices.misses("column as parameter"):
            among = aggregates.COLUMN_AS_PARAMETER
        if self.choices.chance(0.7 if self.choices.has_missed else 0.3):
            among = [aggregate for aggregate in among if aggregate.bound] or among
        if depth == 0:
            among = [aggregate for aggregate in among if aggregate.types] or among
        return self.call(self.choices.one_of(among), rows, depth)

    def call(self, aggregate: Aggregate, rows: Rows, depth: int) -> Expr:
        text = aggregate.text.replace("USER", self.user_of(rows))
        kinds = aggregate.types.split()
        if depth == 0:
            kinds = [kind for kind in kinds if rows.of_types([kind])] or kinds
        kind = self.choices.one_of(kinds) if kinds else ""
        values = tuple(self.value(kind, rows, depth) for _ in range(text.count("#")))
        if text.startswith("dp_") and text.count("dp_") == 1 and "::" not in text and "OVER" not in text and self.choices.chance(0.2):
            text += " FILTER (WHERE #)"
            values += (self.choices.inside.expr("bool", rows.columns, 1),)
        return Expr(aggregate.text, text, aggregate.result, values, True, aggregate.bound and aggregate.bound * (rows.most_rows or 1))

    def value(self, kind: str, rows: Rows, depth: int) -> Expr:
        """With depth 0 a column, which is NULL where an outer join finds no row."""
        columns = rows.of_types([kind])
        if depth == 0 and columns:
            return self.choices.one_of(columns).expr()
        return self.choices.inside.expr(kind, rows.columns, depth)

    def user_of(self, rows: Rows) -> str:
        if rows.user is None or self.choices.misses("other user"):
            return self.choices.one_of(rows.of_types(["int4", "int8"]) or list(rows.columns)).sql
        return rows.user

    def selection(self, rows: Rows) -> Expr:
        """dp_keep_group. Which groups it keeps is no answer: session.py asks again with other thresholds."""
        text = aggregates.KEEP_GROUP
        if rows.user:
            text = aggregates.KEEP_GROUP_OF_USERS.replace("USER", self.user_of(rows))
        if self.choices.misses("selection or true"):
            text = f"({text} OR true)"
        if self.choices.misses("not selection"):
            text = f"NOT {text}"
        if self.choices.misses("exact having"):
            text = "count(*) > 1"
        return Expr("dp_keep_group", text, "bool")

    def answer_condition(self, rows: Rows) -> Expr:
        return Expr("condition on an answer", "# > 15", "bool", (self.call(aggregates.OF_ROWS[0], rows, 0),))

    def aggregate_items(self, rows: Rows, least: int, depth: int = 1) -> Tuple[Item, ...]:
        count = max(least, self.choices.random.randint(1, 3))
        return tuple(Item(self.aggregate(rows, depth), self.choices.new_name("a")) for _ in range(count))

    # ---- shapes

    def without_keys(self, rows: Rows, columns: int) -> Select:
        rows = self.sources.joined(rows)
        having = (self.answer_condition(rows),) if not rows.user and self.choices.chance(0.05) else ()
        items = self.aggregate_items(rows, columns)
        return Select("without keys", items, rows.source, self.sources.conditions(rows.columns, 2), (), having)

    def with_kept_keys(self, rows: Rows, columns: int) -> Select:
        rows = self.sources.joined(rows)
        keys = tuple(self.key_of(rows) for _ in range(self.choices.one_of([1, 1, 1, 2])))
        items = tuple(Item(key, self.choices.new_name("k")) for key in keys)
        if not rows.user or rows.most_rows:
            items += self.aggregate_items(rows, columns - len(keys))
        having = () if self.choices.misses("no selection") else (self.selection(rows),)
        if self.choices.miss == "failing condition on a key" or self.choices.chance(0.2):
            having += (self.key_condition(self.choices.one_of(keys)),)
        if not rows.user and self.choices.chance(0.1):
            having += (self.answer_condition(rows),)
        return Select("kept keys", items, rows.source, self.sources.conditions(rows.columns, 2), keys,
                      tuple(self.choices.some_of(having, 3, 3)), self.order_of(items))

    def key_condition(self, key: Expr) -> Expr:
        """PostgreSQL evaluates it for each row."""
        if self.choices.misses("failing condition on a key"):
            value = quoted(self.choices.changed.get(key.sql().split(".")[-1], "Archive"))
            text = f"1 / (CASE WHEN #::text = {value} THEN 0 ELSE 1 END) > 0"
        else:
            text = self.choices.one_of(["# IS NOT NULL", "# IS DISTINCT FROM NULL", "coalesce(#::text, '') <> 'x'"])
        return Expr("condition on a key", text, "bool", (key,))

    def key_of(self, rows: Rows) -> Expr:
        if self.choices.misses("system column key"):
            return Expr("system column", f"{rows.alias}.{self.choices.one_of(['ctid', 'xmin', 'tableoid', 'cmin'])}", "text")
        if self.choices.misses("whole row key"):
            return Expr("whole row", f"{rows.alias}::text", "text")
        if self.choices.misses("key with several looks"):
            return self.choices.one_of(rows.of_types(["numeric", "float8", "interval"]) or list(rows.columns)).expr()
        groups = [column for column in rows.columns if column.name in GROUP_COLUMNS]
        if self.choices.miss == "failing condition on a key":
            groups += [column for column in rows.columns if column.name in ("id", "patient")]
        if groups and self.choices.chance(0.7):
            return self.choices.one_of(groups).expr()
        return self.computed_key(rows.columns)

    def computed_key(self, columns: Sequence[Column]) -> Expr:
        """GROUP BY would take a number as a position."""
        expr = self.choices.inside.expr(self.choices.one_of(KEY_TYPES), columns, 1)
        return expr if expr.rule != "constant" else self.choices.one_of(columns).expr()

    def with_public_keys(self, rows: Rows, columns: int) -> Select:
        column, key = self.choices.one_of(rows.keyed())
        alias = self.choices.new_name("p")
        public = columns_of(key.columns, alias)
        condition = Expr("key", f"{alias}.{key.name} = #", "bool", (column.expr(),))
        source = Join(Table(key.table, alias), "LEFT", rows.source, (condition,) + self.sources.conditions(rows.columns, 1))
        rows = self.sources.after_public_side(source, rows)
        keys = tuple(self.public_key(public) for _ in range(self.choices.one_of([1, 1, 2])))
        items = tuple(Item(one, self.choices.new_name("k")) for one in keys)
        items += self.aggregate_items(rows, columns - len(keys), 0)
        if self.choices.misses("value of an absent row"):
            items += (Item(self.call(self.choices.one_of(aggregates.OF_ABSENT_ROWS), rows, 0), self.choices.new_name("a")),)
        where = self.sources.conditions(public, 1)
        if self.choices.misses("condition on protected rows"):
            where += (self.choices.inside.expr("bool", rows.columns),)
        return Select("public keys", items, rows.source, where, keys, (), self.order_of(items))

    def public_key(self, columns: Sequence[Column]) -> Expr:
        if self.choices.chance(0.8):
            return self.choices.one_of([column for column in columns if column.type in KEY_TYPES]).expr()
        return self.computed_key(columns)

    def order_of(self, items: Sequence[Item]) -> Tuple[Expr, ...]:
        """Positions of keys and answers to sort by; an answer makes the order that of noise."""
        if not self.choices.chance(0.3):
            return ()
        return tuple(Expr("order", f"{items.index(item) + 1}{self.choices.one_of(['', ' DESC', ' NULLS FIRST'])}", "int4", (),
                          depends_on_answers(item)) for item in self.choices.some_of(items, 1, 2))

    def scalar(self, condition: Optional[Callable[[Rows], Tuple[Expr, ...]]] = None) -> Select:
        """A release of one answer, for a sublink."""
        rows = self.sources.rows()
        item = Item(self.aggregate(rows), self.choices.new_name("a"))
        return Select("scalar", (item,), rows.source, self.sources.conditions(rows.columns, 1) + (condition(rows) if condition else ()))

    def with_miss(self, block: Select) -> Select:
        changes: Dict[str, Callable[[], Select]] = {
            "grouping sets": lambda: replace(block, group=(Expr("rollup", "ROLLUP (#)", "text", block.group[:1]),)),
            "row locks": lambda: replace(block, suffix=self.choices.one_of(["FOR UPDATE", "FOR KEY SHARE"])),
            "distinct block": lambda: replace(block, distinct="DISTINCT "),
            "set-returning item": lambda: replace(block, items=block.items + (
                Item(Expr("generate_series", "generate_series(1, 1)", "int4"), "g"),)),
            "window in block": lambda: replace(block, items=block.items + (Item(Expr("window", "count(*) OVER ()", "int8"), "w"),)),
            "window clause in block": lambda: replace(
                block, order=(), limit="", suffix=f"WINDOW w AS (ORDER BY {block.items[-1].expr.sql()})"),
            "exists block": lambda: replace(block, where=block.where + (Expr("exists", "EXISTS (#)", "bool", (self.scalar(),)),)),
        }
        if not block.group:
            del changes["grouping sets"]
        for name, change in changes.items():
            if self.choices.misses(name):
                return change()
        return block

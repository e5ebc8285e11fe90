"""Protected rows in FROM: tables, derived tables over them, and joins to public tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Dict, List, Optional, Sequence, Tuple

import public_levels
from choices import MISSES_IN_DERIVED, MISSES_IN_GROUPS, MISSES_IN_JOIN, MISSES_IN_UNIT, REFUSED_TABLES, Choices, Protected
from expressions import Column, columns_of, quoted
from person_groups import groups_of_rows
from person_windows import windows_of_rows
from sql_tree import Derived, Expr, Item, Join, Query, Select, SetOperation, Source, Table, Text

PUBLIC_SHARE = 0.06  # of the conditions: those with a subquery over public tables, besides others
KEY_TYPES = ("text", "int4", "date", "bool")
GROUP_COLUMNS = ("department", "ward", "place", "city_id", "active", "town_id", "day", "level")
CITY = {"id": "int4", "name": "text", "region": "text", "population": "int4", "founded": "date"}
CALENDAR = {"day": "date", "month": "text", "holiday": "bool"}


@dataclass(frozen=True)
class Key:
    """A unique key of a public table."""

    table: str
    name: str
    columns: Dict[str, str]


CITY_KEY = Key("city", "id", CITY)
DAY_KEY = Key("calendar", "day", CALENDAR)
# Lists of different numbers, in the place of a public table with an int4 key
LISTS = ("(VALUES (1), (2), (3), (NULL))", "generate_series(1, 50)", "generate_series(9, 1, -2)", "unnest('{1,2,7}'::int[])")
# Which public table goes with a column
KEYS_OF_COLUMNS = {"city_id": CITY_KEY, "town_id": CITY_KEY, "boss": CITY_KEY, "hired": DAY_KEY, "day": DAY_KEY}
@dataclass(frozen=True)
class Rows:
    """Protected rows: where they come from, and which columns there are."""

    source: Source
    columns: Tuple[Column, ...]
    alias: str
    user: Optional[str]  # the column of the user whose rows are protected together
    most_rows: Optional[int]  # of a user, which a query sees
    of_unit: Tuple[str, ...] = ()  # the tables of the unit that they are of

    def of_types(self, kinds: Sequence[str]) -> List[Column]:
        return [column for column in self.columns if column.type in kinds]

    def read_by(self, query: Query) -> "Rows":
        """A union has the rows of a person once for each of its queries."""
        times = len(query.branches) if isinstance(query, SetOperation) else 1
        return replace(self, most_rows=self.most_rows and self.most_rows * times)

    def keyed(self) -> List[Tuple[Column, Key]]:
        """The columns that refer to a public table."""
        return [(column, KEYS_OF_COLUMNS[column.name]) for column in self.columns if column.name in KEYS_OF_COLUMNS]


class Sources:
    def __init__(self, choices: Choices):
        self.choices = choices

    def conditions(self, columns: Sequence[Column], most: int) -> Tuple[Expr, ...]:
        """Conditions for rows. Some choose the row in which the neighbours differ, so that others are asked for this row only."""
        conditions = tuple(self.choices.inside.expr("bool", columns) for _ in range(self.choices.random.randint(0, most)))
        keys = [column for column in columns if column.name in ("id", "patient") and column.name in self.choices.changed]
        if keys and self.choices.chance(self.choices.changed_row_share):
            column = self.choices.one_of(keys)
            value = self.choices.changed[column.name]
            conditions = (Expr("the changed row", f"# = {quoted(value)}", "bool", (column.expr(),)),) + conditions
        integers = [column for column in columns if column.type == "int4"]
        if integers and self.choices.chance(PUBLIC_SHARE):
            conditions += (public_levels.condition(self.choices, integers),)
        return conditions + self.range_by_parameter(columns, 0.1)

    def range_by_parameter(self, columns: Sequence[Column], share: float) -> Tuple[Expr, ...]:
        """Generic plans and custom plans expect different numbers of rows for it."""
        numbers = [column for column in columns if column.name in ("id", "patient")]
        parameters = self.choices.inside.parameters
        if parameters is None or not numbers or not self.choices.chance(share):
            return ()
        column = self.choices.one_of(numbers)
        few_or_many = self.choices.one_of([2, 5, self.choices.random.randint(0, 400)])
        parameter = parameters.add(column.type, str(few_or_many))
        return (Expr("a range", f"# < {parameter}", "bool", (column.expr(),)),)

    # ---- tables and derived tables

    def stored_rows(self, table: Protected) -> Rows:
        alias = self.choices.new_name("s")
        source: Source = Table(table.name, alias)
        if table.name != "roster" and self.choices.misses("sample in source"):
            source = Text(f"{table.name} AS {alias} TABLESAMPLE BERNOULLI (50)")
        return Rows(source, columns_of(table.columns, alias), alias, table.user_column and f"{alias}.{table.user_column}",
                    table.most_rows, (table.name,) if table.in_unit else ())

    def rows(self, table: Optional[Protected] = None) -> Rows:
        table = table or self.choices.table()
        rows = self.derived(self.stored_rows(table))
        if table.in_unit and (self.choices.miss in MISSES_IN_UNIT or self.choices.chance(0.5)):
            rows = self.derived(self.joined_with_unit(table, rows))
        return rows

    def derived(self, rows: Rows) -> Rows:
        while self.choices.chance(0.25) or (self.choices.miss in MISSES_IN_DERIVED + MISSES_IN_GROUPS and not self.choices.has_missed):
            of_groups = rows.user is not None and self.choices.chance(0.9 if self.choices.miss in MISSES_IN_GROUPS else 0.4)
            if not of_groups and self.choices.miss in MISSES_IN_GROUPS and rows.user is None:
                self.choices.miss = None
            of_windows = not of_groups and rows.user is not None and self.choices.chance(0.3)
            query, rows = self.groups(rows) if of_groups else self.windows(rows) if of_windows else self.projection(rows)
            rows = replace(rows, source=Derived(query, rows.alias))
        return rows

    def groups(self, rows: Rows) -> Tuple[Query, Rows]:
        """A row for each person, or for each person and something else."""
        select, groups = groups_of_rows(self.choices, rows, self.conditions(rows.columns, 1))
        query = self.with_miss(select)
        return query, groups.read_by(query)

    def windows(self, rows: Rows) -> Tuple[Query, Rows]:
        """Numbered rows, mostly the first of each person."""
        query, rows = windows_of_rows(self.choices, rows, self.conditions(rows.columns, 1))
        number = rows.columns[-1]
        if number.type != "int8" or self.choices.chance(0.4):
            return query, rows
        first = Expr("first rows", self.choices.one_of(["# = 1", "# <= 2", "# > 1"]), "bool", (number.expr(),))
        items = tuple(Item(column.expr(), column.name) for column in rows.columns)
        return Select("source", items, Derived(query, rows.alias), (first,)), rows

    def projection(self, rows: Rows) -> Tuple[Query, Rows]:
        """A query with some of these rows and columns, and what it is as rows of FROM, where its name is the alias."""
        alias = self.choices.new_name("t")
        items = [Item(column.expr(), column.name) for column in rows.columns
                 if self.choices.chance(0.8) or column.name in GROUP_COLUMNS or column.sql == rows.user]
        items += [Item(self.choices.inside.expr(self.choices.one_of(KEY_TYPES), rows.columns), self.choices.new_name("x"))
                  for _ in range(self.choices.random.randint(0, 2))]
        items = list({item.name: item for item in items}.values())
        select = Select("source", tuple(items), rows.source, self.conditions(rows.columns, 1))
        columns = tuple(Column(f"{alias}.{item.name}", item.expr.type) for item in items)
        user = rows.user and f"{alias}.{rows.user.split('.')[-1]}"
        query = self.with_miss(select)
        return query, Rows(Table(alias, alias), columns, alias, user, rows.most_rows, rows.of_unit).read_by(query)

    def with_miss(self, select: Select) -> Query:
        changes: Dict[str, Callable[[], Query]] = {
            "limit in source": lambda: replace(select, limit=self.choices.one_of(["LIMIT 60", "OFFSET 5", "FETCH FIRST 3 ROWS ONLY"])),
            "distinct in source": lambda: replace(select, distinct=self.distinct_on(select.items)),
            "window in source": lambda: replace(select, items=select.items + (Item(Expr("window", "row_number() OVER ()", "int8"), "n"),)),
            "union in source": lambda: SetOperation("UNION ALL", (select, select)),
            "set-returning source": lambda: replace(select, items=select.items + (
                Item(Expr("generate_series", "generate_series(1, 9)", "int4"), "n"),)),
            "order in source": lambda: replace(select, order=(select.items[0].expr,)),
            "group in source": lambda: replace(select, group=tuple(item.expr for item in select.items)),
        }
        for name, change in changes.items():
            if self.choices.misses(name):
                return change()
        return select

    def distinct_on(self, items: Sequence[Item]) -> str:
        """Mostly by a column that many rows share: one more row may change which row represents them."""
        groups = [item for item in items if item.name in GROUP_COLUMNS]
        item = self.choices.one_of(groups if groups and self.choices.chance(0.7) else items)
        return f"DISTINCT ON ({item.expr.sql()}) "

    # ---- joins

    def joined_with_unit(self, table: Protected, rows: Rows) -> Rows:
        """The rows with those of the same users in another table of the unit."""
        misses = self.choices.misses
        other = next(one for one in self.choices.tables if one.in_unit and one.name != table.name)
        if misses("unit self join"):
            other = table
        if misses("join to another unit"):
            other = next(one for one in self.choices.tables if one.user_column and not one.in_unit)
        sides = [rows, self.derived(self.stored_rows(other))]
        self.choices.random.shuffle(sides)
        left, right = sides
        kind = self.choices.one_of(["INNER", "INNER", "LEFT", "RIGHT"])
        text = f"{left.user} = {right.user}"
        if misses("unit join by another column"):
            text = self.other_equality(left, right)
        if misses("unit join by a range"):
            text = f"{left.user} {self.choices.one_of(['>=', '<>', '<'])} {right.user}"
        if misses("unit join by an expression"):
            text = self.choices.one_of([f"{left.user} % 7 = {right.user} % 7", f"abs({left.user}) = abs({right.user})", f"{left.user} + 1 = {right.user}"])
        if misses("unit join with or"):
            text = f"({text} OR {left.user} = {self.choices.changed.get('patient', '7')})"
        for miss in ("full unit join", "cross unit join"):
            if misses(miss):
                kind = miss.split()[0].upper()
        conditions = (Expr("unit", text, "bool"),) + (self.conditions(left.columns + right.columns, 1) if kind != "FULL" else ())
        if misses("unit join in where"):
            kind, conditions = "LEFT", (Expr("true", "true", "bool"),)
        preserved = right if kind == "RIGHT" else left
        rows = Rows(Join(left.source, kind, right.source, conditions), left.columns + right.columns, preserved.alias, preserved.user,
                    max(left.most_rows or 0, right.most_rows or 0) or None, left.of_unit + right.of_unit)
        return rows

    def after_public_side(self, source: Source, rows: Rows) -> Rows:
        """The rows in FROM `source`, which keeps rows of a public table, perhaps with those of the same users in another table of the unit."""
        rows = replace(rows, source=source)
        if len(rows.of_unit) != 1 or not self.choices.chance(0.5):
            return rows
        other = next(one for one in self.choices.tables if one.in_unit and one.name not in rows.of_unit)
        right = self.stored_rows(other)
        conditions = (Expr("unit", f"{rows.user} = {right.user}", "bool"),) + self.conditions(rows.columns + right.columns, 1)
        kind = "INNER" if self.choices.misses("inner unit join after a public side") else "LEFT"
        return replace(rows, source=Join(source, kind, right.source, conditions), columns=rows.columns + right.columns,
                       most_rows=max(rows.most_rows or 0, right.most_rows or 0) or None, of_unit=rows.of_unit + right.of_unit)

    def other_equality(self, left: Rows, right: Rows) -> str:
        """An equality of columns of both sides, of which at least one does not name the users."""
        pairs = [(one.sql, other.sql) for one in left.columns for other in right.columns
                 if one.type == other.type and (one.sql, other.sql) != (left.user, right.user)]
        one, other = self.choices.one_of(pairs or [(str(left.user), "7")])
        return f"{one} = {other}"

    def joined(self, rows: Rows) -> Rows:
        """The rows, perhaps with the row of a public table that belongs to each."""
        keyed = rows.keyed()
        if self.choices.miss in MISSES_IN_JOIN and not self.choices.has_missed:
            keyed = [(column, key) for column, key in keyed if column.type == "int4"]
        if keyed and self.choices.miss in MISSES_IN_JOIN:
            return self.joined_with_miss(rows, *self.choices.one_of(keyed))
        if not keyed or not self.choices.chance(0.3):
            return rows
        column, key = self.choices.one_of(keyed)
        alias = self.choices.new_name("p")
        table, name, columns = Table(key.table, alias), key.name, key.columns
        if column.type == "int4" and self.choices.chance(0.3):
            table, name, columns = Text(f"{self.choices.one_of(LISTS)} AS {alias} (id)"), "id", {"id": "int4"}
        if column.type == "int4" and self.choices.chance(0.3):
            level, of_level, level_keys = public_levels.level(self.choices, alias)
            if len(level_keys) == 1:
                table, name, columns = level, level_keys[0].split(".")[1], {one.name: one.type for one in of_level}
        condition = Expr("key", f"# = {alias}.{name}", "bool", (column.expr(),))
        kind = self.choices.one_of(["INNER", "INNER", "LEFT"])
        source = Join(rows.source, kind, table, (condition,) + self.conditions(rows.columns, 1))
        if kind == "INNER" and self.choices.chance(0.3):
            source = Join(table, kind, rows.source, (condition,))
        return replace(rows, source=source, columns=rows.columns + columns_of(columns, alias))

    def joined_with_miss(self, rows: Rows, column: Column, key: Key) -> Rows:
        """A join that may multiply rows, or drop public ones."""
        misses = self.choices.misses
        alias = self.choices.new_name("p")
        right, name, kind, text = Text(f"{key.table} AS {alias}"), key.name, "INNER", "# = {}"
        for miss, (table, of_table) in REFUSED_TABLES.items():
            if misses(miss):
                right, name = Text(table.format(alias)), of_table
        for miss in ("full join", "cross join", "right join"):
            if misses(miss):
                kind = miss.split()[0].upper()
        if misses("self join"):
            right, name = Text(f"{self.choices.focus.name} AS {alias}"), self.column_like(column)
        if misses("range join"):
            text = self.choices.one_of(["# >= {}", "# <> {}"])
        if misses("join by a constant"):
            text = "# IS NOT NULL"
        if misses("join condition with or"):
            text = "(# = {} OR # IS NOT NULL)"
        if misses("lateral source"):
            kind, right = "CROSS", Text(f"LATERAL generate_series(1, length({column.sql}::text)) AS {alias} (id)")
        text = text.format(f"{alias}.{name}")
        condition = Expr("key", text, "bool", (column.expr(),) * text.count("#"))
        return replace(rows, source=Join(rows.source, kind, right, (condition,)))

    def column_like(self, column: Column) -> str:
        """A column of the protected table with the type of this one, mostly its key."""
        names = [name for name, kind in self.choices.focus.columns.items() if kind == column.type] or ["id"]
        return "id" if "id" in names and self.choices.chance(0.7) else self.choices.one_of(names)

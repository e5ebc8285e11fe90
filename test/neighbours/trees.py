"""Release blocks over trees of FROM: small protected tables of a unit or one of rows, public tables and lists, joined in any order and nesting,
in derived tables and CTEs. exact.py makes the owner's exact query of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Sequence, Set, Tuple

import aggregates
import public_levels
import references
from blocks import Blocks
from choices import Choices
from expressions import Column, columns_of, quoted
from person_groups import PersonGroups
from person_sets import PersonSets
from person_subqueries import PersonSubqueries
from person_windows import PersonWindows
from plain import PlainBlocks
from rows import TOO_LONG
from sources import Rows
from sql_tree import Cte, Derived, Expr, Item, Join, Query, Select, SetOperation, Source, Table, Text, With

# The protected tables of each unit, with what stands for each of them
UNITS: Sequence[Dict[str, Sequence[str]]] = (
    {"beds": ("beds", "beds", "high_beds", "fed_beds"), "doses": ("doses", "doses", "most_doses"),
     "meals": ("meals", "meals", "known_meals", "placed_meals"), "trips": ("trips", "trips", "ranked_trips")},
    {"notes": ("notes",), "slips": ("slips",)}, {"bills": ("bills",)},
    {"clients": ("clients", "clients", "busy_clients"), "orders": ("orders", "orders", "orders", "ordered_lines", "own_orders"), "lines": ("lines",), "parts": ("parts",),
     "invoices": ("invoices", "invoices", "line_sums"), "tips": ("tips",), "chats": ("chats",), "passes": ("passes",)})
TYPES_OF_PATIENTS = {"doses": "int8", "notes": "text", "slips": "varchar", "bills": "numeric"}
MOST_ROWS = {"beds": 1, "doses": 2, "meals": 3, "trips": 40, "notes": 3, "slips": 3, "bills": 3, "clients": 1, "orders": 2, "lines": 4, "parts": 6, "invoices": 2, "tips": 3, "chats": 3, "passes": 2}
# Of which groups are limited, too
MOST_GROUPS = {"trips": 2}
# The columns by which tables of a unit refer to each other: whether they refer or are referred to. The last ones of "copy" are the person of the order, copied.
LINKS: Dict[str, Sequence[Tuple[str, bool, Sequence[str]]]] = {
    "orders": (("order", False, ("id",)), ("copy", False, ("id", "patient"))), "lines": (("order", True, ("order_id",)), ("line", False, ("order_id", "line"))),
    "parts": (("line", True, ("order_no", "line")),), "tips": (("order", True, ("order_id",)),), "chats": (("room", True, ("room_id",)),), "invoices": (("copy", True, ("order_id", "patient")),)}
# The tables that have a key of one
LINKS_OF = {key: tuple(table for table, links in LINKS.items() if key in [name for name, _, _ in links]) for key in ("order", "line", "room")}
# Protected tables that the analyst may read: their columns, each with a unique key, and what refers or is referred to
READABLE: Dict[str, Tuple[Dict[str, str], Sequence[str], Tuple[str, bool, str]]] = {
    "receipts": ({"id": "int4", "order_id": "int4", "city_id": "int4", "level": "int4"}, ("id", "order_id"), ("order", True, "order_id")),
    "rooms": ({"id": "int4", "holder": "int8", "city_id": "int4", "level": "int4"}, ("id",), ("room", False, "id"))}
LEADS_TO = {"lines": "orders", "tips": "orders", "parts": "lines"}
# Where the person of a row is, for the owner
PERSONS_OF_ROWS = {"tips": "(SELECT o.patient FROM orders AS o WHERE o.id = {0}.order_id)", "chats": "(SELECT o.holder FROM rooms AS o WHERE o.id = {0}.room_id)",
                   "lines": "(SELECT o.patient FROM orders AS o WHERE o.id = {0}.order_id)",
                   "parts": "(SELECT o.patient FROM orders AS o WHERE o.id = {0}.order_no AND EXISTS (SELECT FROM lines AS l WHERE l.order_id = {0}.order_no AND l.line = {0}.line))"}
NUMBERS = ("int4", "int8", "numeric", "float8")
INTEGERS = ("int4", "int8")
LISTS = {"(VALUES (1, 2), (2, 2), (3, 1), (7, NULL)) AS {} (id, level)": ("id", "level"), "generate_series(1, 8) AS {} (id)": ("id",),
         "unnest('{{1,2,7}}'::int[]) AS {} (id)": ("id",), "unnest('{{3,1,2,7}}'::int[], '{{1,2,2,NULL}}'::int[]) AS {} (id, level)": ("id", "level")}
CONDITIONS = ("# = {}", "# IS NULL", "# IS NOT NULL", "coalesce(#, {}) < {}", "# > #", "# IS DISTINCT FROM {}")
# The planner computes a part of them, or all.
FOLDED = ("false", "true", "{} < {}", "NULL::bool", "(false AND # = {})", "(true OR # = {})", "(NULL OR # = {})", "coalesce(NULL, # = {})",
          "CASE WHEN {} = 2 THEN # > {} END", "# = {} - 1", "(# = {}) IS NOT FALSE", "NOT (# > {} AND false)", "# IN ({}, NULL)")
SAME_TABLE_SHARE = 0.04
LIMITS = ("LIMIT 3", "LIMIT 0", "LIMIT ALL", "OFFSET 0", "OFFSET 1", "LIMIT 2 OFFSET 1", "LIMIT NULL", "FETCH FIRST ROW ONLY")
GROUP_SHARE = 0.5  # of the parts that are levels that compute something of the rows of each person
REFERENCE_MISS_SHARE = 0.08  # of the joins by references
PLAIN_SHARE = 0.25  # of the blocks
TABLES_SHARE = 0.6  # of those beside columns of public tables
SIDE_SHARE = 0.6  # of the keys beside a public side: those of this side
SUBQUERY_SHARE = 0.2  # of the levels and blocks
WINDOW_SHARE = 0.35  # of these
CHANGED_SHARE = 0.5
PUBLIC_SHARE = 0.12  # of the conditions: those with a subquery over public tables


@dataclass(frozen=True)
class Link:
    """Columns that refer to a row, or are those of the key that is referred to."""

    key: str
    refers: bool
    columns: Tuple[Column, ...]
    is_sure: bool = True  # They are those of a table, as they are, in each row: not of a view, not computed, not of a row that may be absent.
    is_readable: bool = False  # The analyst may read the table: whom its rows refer to says nothing of the person of a row that is joined with them.


@dataclass(frozen=True)
class Part:
    """A part of FROM."""

    source: Source
    columns: Tuple[Column, ...]
    users: Tuple[Column, ...]   # those that name persons
    user: Optional[Column]      # the one that names the person of a row; None for tables of rows
    public: Tuple[Column, ...]  # those of public tables
    where: Tuple[Expr, ...] = ()  # for the level
    has_public_side: bool = False
    keys: Tuple[Column, ...] = ()  # those by which to group, mostly
    persons: Tuple[Column, ...] = ()  # users that name the person of the row, also where an outer join finds no other
    of_groups: Tuple[Column, ...] = ()  # aggregates of the rows of a person
    has_one_row: bool = False  # of each person
    side: Tuple[Column, ...] = ()  # columns of the public side that an outer join keeps
    links: Tuple[Link, ...] = ()
    most_rows: int = 1  # of a person, which a query sees; of tables that are read with one row of each person: 1
    group_of: str = ""  # the key of a reference of which each row has another one

    @property
    def protected(self) -> Tuple[Column, ...]:
        return tuple(column for column in self.columns if column not in self.public)

    def named(self, name: str) -> List[Column]:
        return [column for column in self.columns if column.name == name]


@dataclass(frozen=True)
class Public:
    """A public table or list, and the condition by which its row is chosen."""

    source: Source
    columns: Tuple[Column, ...]
    conditions: Tuple[Expr, ...]
    using: str = ""
    links: Tuple[Link, ...] = ()


class Trees:
    def __init__(self, choices: Choices, blocks: Blocks):
        self.choices = choices
        self.blocks = blocks
        self.groups = PersonGroups(self)
        self.windows = PersonWindows(self)
        self.subqueries = PersonSubqueries(self)
        self.plain = PlainBlocks(self)
        self.sets = PersonSets(self)
        self.in_subqueries: List[str] = []  # the tables of the unit
        self.unused: List[str] = []  # protected tables that no part has yet
        self.used: List[str] = []
        self.of_tables: Set[str] = set()  # columns of public tables

    # ---- expressions

    def condition(self, columns: Sequence[Column]) -> Expr:
        users = [column for column in columns if column.name == "patient"] or [column for column in columns if column.name == "id"]
        value = self.choices.changed.get("patient", self.choices.changed.get("id"))
        if users and value is not None and len(value) < TOO_LONG and self.choices.chance(0.9 if len(users) == len(columns) else CHANGED_SHARE):
            return Expr("the changed row", f"# = {quoted(value)}", "bool", (self.choices.one_of(users).expr(),))
        numbers = [column for column in columns if column.type in NUMBERS]
        texts = [column for column in columns if column.type == "text"]
        if texts and self.choices.chance(0.3):
            text = self.choices.one_of(["# < '{}'", "# = '{},{}'", "# > '{},{}'"]).format(*(self.choices.random.randint(1, 4) for _ in range(2)))
            return Expr("condition", text, "bool", (self.choices.one_of(texts).expr(),))
        if self.choices.chance(0.2) or not numbers:
            return Expr("condition", "# IS NULL", "bool", (self.choices.one_of(columns).expr(),))
        if self.choices.chance(0.1):
            return self.choices.inside.expr("bool", columns, 1)
        integers = [column for column in numbers if column.type in INTEGERS]
        if integers and self.choices.chance(PUBLIC_SHARE):
            return public_levels.condition(self.choices, integers)
        text = self.choices.one_of(FOLDED if self.choices.chance(0.1) else CONDITIONS)
        text = text.format(*(self.choices.random.randint(1, 4) for _ in range(2)))
        return Expr("condition", text, "bool", tuple(self.choices.one_of(numbers).expr() for _ in range(text.count("#"))))

    def conditions(self, columns: Sequence[Column], share: float) -> Tuple[Expr, ...]:
        return (self.condition(columns),) if columns and self.choices.chance(share) else ()

    def columns_of_where(self, part: "Part") -> Sequence[Column]:
        """Beside a public side a condition on others may drop its rows."""
        if part.side and self.choices.chance(0.6):
            return part.side
        return part.public or part.columns if self.choices.chance(0.5) else part.columns

    def chooser(self, columns: Sequence[Column]) -> Expr:
        """What the key of a public table is compared with."""
        integers = [column for column in columns if column.type in INTEGERS]
        if not integers:
            return Expr("constant", str(self.choices.random.randint(1, 4)), "int4")
        column = self.choices.one_of(integers).expr()
        number = str(self.choices.random.randint(1, 4))
        return self.choices.random.choices([
            column, Expr("constant", number, "int4"), Expr("coalesce", f"coalesce(#, {number})", "int4", (column,)),
            Expr("case", f"CASE WHEN # THEN {number} ELSE {self.choices.random.randint(1, 4)} END", "int4", (self.condition(columns),))],
            [4, 4, 2, 3])[0]

    # ---- parts of FROM

    def table(self) -> Optional[Part]:
        """A protected table that the tree does not have yet."""
        if self.used and self.choices.chance(SAME_TABLE_SHARE):
            return self.table_named(self.choices.one_of(self.used))
        if not self.unused:
            return None
        self.used.append(self.unused.pop())
        part = self.table_named(self.used[-1])
        return self.led_to_persons(part, self.used[-1]) if self.choices.chance(0.5) else part

    def led_to_persons(self, part: Part, name: str) -> Part:
        """The rows of a table with those that they refer to, up to the person."""
        while name in LEADS_TO and LEADS_TO[name] not in self.used:
            name = LEADS_TO[name]
            self.use(name)
            other = self.table_named(name)
            part = self.with_persons(*((part, other) if self.choices.chance(0.6) else (other, part)), self.links_of(part, other))
        return part

    def use(self, name: str) -> None:
        self.used.append(name)
        self.unused = [other for other in self.unused if other != name]

    def table_named(self, name: str) -> Part:
        alias = self.choices.new_name("s")
        if name == "calls":
            columns = columns_of({"id": "int4", "city_id": "int4", "level": "int4"}, alias)
            return Part(Table(name, alias), columns, columns[:1], None, ())
        types = next(table.columns for table in self.choices.small if table.name == name)
        if name in UNITS[0]:
            types = {"patient": TYPES_OF_PATIENTS.get(name, "int4"), "city_id": "int4", "level": "int4"}
        columns = columns_of(types, alias)
        source = next(self.choices.one_of(unit[name]) for unit in UNITS if name in unit)
        of = {column.name: column for column in columns}
        links = tuple(Link(key, refers, tuple(of[one] for one in names)) for key, refers, names in LINKS.get(name, ()) if source == name or self.choices.chance(0.1))
        links = tuple(replace(link, is_sure=source == name) for link in links)
        if name in PERSONS_OF_ROWS:
            return Part(Table(source, alias), columns, columns[:1], Column(PERSONS_OF_ROWS[name].format(alias), "int8"), (), links=links,
                        most_rows=MOST_ROWS[name])
        return Part(Table(source, alias), columns, (of["patient"],), of["patient"], (), persons=(of["patient"],), links=links, most_rows=MOST_ROWS[name])

    def public(self, columns: Sequence[Column], share_of_conditions: float) -> Public:
        """A public table or list that is joined by a unique key."""
        alias = self.choices.new_name("p")
        conditions = self.conditions(columns, share_of_conditions)
        kind = self.choices.random.choices(["city", "area", "list", "square", "name", "level", "readable"], [5, 5, 4, 1, 1, 5, 4 if "orders" in self.in_subqueries else 0])[0]
        if kind == "readable":
            return self.readable(columns, alias, conditions)
        if kind == "level":
            level, own, keys = public_levels.level(self.choices, alias)
            equal = tuple(Expr("key", f"{key} = #", "bool", (self.chooser(columns),)) for key in keys)
            return Public(level, own, (*equal, *conditions, *self.conditions(own, 0.1)))
        if kind == "square":
            pair = tuple(Expr("key", f"{alias}.{name} = #", "bool", (self.chooser(columns),)) for name in "ab")
            return Public(Table("square", alias), columns_of({"a": "int4", "b": "int4", "level": "int4"}, alias), pair + conditions)
        if kind == "name":
            name = Expr("key", f"{alias}.name = 'city {self.choices.random.randint(1, 12)}'", "bool")
            self.of_tables.add(f"{alias}.id")
            return Public(Table("city", alias), columns_of({"id": "int4"}, alias), (name,) + conditions)
        key = Expr("key", f"{alias}.id = #", "bool", (self.chooser(columns),))
        if self.choices.chance(0.3):
            key = Expr("key", f"# = {alias}.id", "bool", key.children)
        names: Sequence[str] = ("id",) if kind == "city" else ("id", "city_id", "level")
        source: Source = Table(kind, alias)
        if kind == "list":
            text = self.choices.one_of(list(LISTS))
            source, names = Text(text.format(alias)), LISTS[text]
        own = columns_of({name: "int4" for name in names}, alias)
        if kind != "list":
            self.of_tables.update(column.sql for column in own)
        using = " USING (id)" if sum(column.name == "id" for column in columns) == 1 and self.choices.chance(0.3) else ""
        return Public(source, own, (key, *conditions, *self.conditions(own, 0.1)), using)

    def readable(self, columns: Sequence[Column], alias: str, conditions: Tuple[Expr, ...]) -> Public:
        """A protected table that the analyst may read, by a number of the row or by what refers to it."""
        name = self.choices.one_of(list(READABLE))
        types, keys, (link, refers, linked) = READABLE[name]
        own = columns_of(types, alias)
        key = self.choices.one_of(keys)
        numbers = [column for column in columns if column.name in ("order_id", "room_id") or key == "order_id" and column.name == "id"]
        chooser = self.choices.one_of(numbers).expr() if numbers and self.choices.chance(0.5) else self.chooser(columns)
        equal = Expr("key of readable rows", f"{alias}.{key} = #", "bool", (chooser,))
        links = tuple(Link(link, refers, (column,), False, True) for column in own if column.name == linked)
        return Public(Table(name, alias), own, (equal, *conditions, *self.conditions(own, 0.1)), "", links)

    def in_where(self, kind: str, conditions: Tuple[Expr, ...], share: float) -> Tuple[str, Tuple[Expr, ...], Tuple[Expr, ...]]:
        """The kind of a join, its conditions, and those of an inner join that WHERE has in their place."""
        if kind != "INNER" or not self.choices.chance(share):
            return kind, conditions, ()
        return self.choices.one_of(["CROSS", "INNER"]), (), conditions

    def with_public(self, part: Part) -> Part:
        """The rows of a part, each with its row of a public table."""
        beside = part.public if part.public and self.choices.chance(0.3) else part.columns
        public = self.public(beside, 0.3)
        kind, on, where = self.choices.one_of(["INNER", "LEFT"]), public.conditions, ()
        if not public.using:
            kind, on, where = self.in_where(kind, on, 0.5)
        if self.choices.chance(0.25):
            source = Join(public.source, "RIGHT" if kind == "LEFT" else kind, part.source, on, public.using)
        else:
            source = Join(part.source, kind, public.source, on, public.using)
        return replace(part, source=source, columns=part.columns + public.columns, public=part.public + public.columns, where=part.where + where,
                       links=part.links + public.links)

    def with_row(self, part: Part) -> Part:
        """The rows of a part, each with the same row of a public table."""
        alias = self.choices.new_name("p")
        key = Expr("key", f"{alias}.id = {self.choices.random.randint(1, 4)}", "bool")
        name = self.choices.one_of(["city", "area"])
        columns = columns_of({"id": "int4"} if name == "city" else {"id": "int4", "level": "int4"}, alias)
        source = Join(part.source, self.choices.one_of(["INNER", "LEFT"]), Table(name, alias), (key,))
        self.of_tables.update(column.sql for column in columns)
        return replace(part, source=source, columns=part.columns + columns, public=part.public + columns, keys=columns)

    def beside_public(self, part: Part) -> Part:
        """All rows of a public table, with the protected ones that belong to each."""
        public = self.public(part.columns, 0.5)
        if self.choices.chance(0.7):
            source = Join(public.source, "LEFT", part.source, public.conditions, public.using)
        else:
            source = Join(part.source, "RIGHT", public.source, public.conditions, public.using)
        return replace(part, source=source, columns=part.columns + public.columns, public=part.public + public.columns, has_public_side=True,
                       side=part.side + public.columns, links=part.links + public.links)

    def with_chosen_row(self, part: Part) -> Part:
        """An inner join with the row of a public table that depends on whether there is a protected row."""
        alias = self.choices.new_name("p")
        column = self.choices.one_of(part.protected or part.columns)
        values = self.choices.some_of(["1", "2", "3", "4"], 2, 2)
        key = Expr("key", f"{alias}.id = CASE WHEN # IS NULL THEN {values[0]} ELSE {values[1]} END", "bool", (column.expr(),))
        kind, on, where = self.in_where("INNER", (key,), 0.7)
        own = columns_of({"id": "int4"}, alias)
        return replace(part, source=Join(part.source, kind, Table("city", alias), on), columns=part.columns + own, public=part.public + own,
                       where=part.where + where, keys=own)

    def links_of(self, left: Part, right: Part) -> List[Tuple[Link, Link]]:
        """The references between two parts. Rows of two levels may refer to one row."""
        are_levels = isinstance(left.source, Derived) and isinstance(right.source, Derived)
        return [(one, other) for one in left.links for other in right.links if one.key == other.key and (one.refers != other.refers or one.refers and are_levels)]

    def equality(self, left: Part, right: Part, pairs: Sequence[Tuple[Link, Link]]) -> Expr:
        """By the persons, or by a reference."""
        if not pairs:
            return Expr("unit", "# = #", "bool", (self.choices.one_of(left.users).expr(), self.choices.one_of(right.users).expr()))
        one, other = self.choices.one_of(pairs)
        columns = list(zip(one.columns, other.columns))
        if one.is_readable or other.is_readable:
            return Expr("join by a reference of readable rows", "# = #", "bool", (columns[0][0].expr(), columns[0][1].expr()))
        if one.key == "copy" and self.choices.chance(0.6):
            (key, referred), persons = columns[0], columns[-1]
            return Expr("join by a copied key", "# = #", "bool", (key.expr(), referred.expr()), exact=f"# = # AND {persons[0].sql} = {persons[1].sql}")
        others = [self.with_other_column(left, right, pair) for pair in columns] if one.key != "copy" and self.choices.chance(REFERENCE_MISS_SHARE) else columns
        if others != columns:
            text = " AND ".join(["# = #"] * len(others))
            return Expr("join by other columns than a reference", text, "bool", tuple(column.expr() for pair in others for column in pair))
        if len(columns) > 1 and one.key != "copy" and self.choices.chance(0.06):
            return Expr("join by a part of a reference", "# = #", "bool", tuple(column.expr() for column in self.choices.one_of(columns)))
        text = " AND ".join(["# = #"] * len(columns))
        return Expr(f"join by a reference to {one.key}", text, "bool", tuple(column.expr() for pair in columns for column in pair))

    def with_other_column(self, left: Part, right: Part, pair: Tuple[Column, Column]) -> Tuple[Column, Column]:
        """Another column of a side, which refers to nothing, in the place of one."""
        number = self.choices.one_of([0, 1])
        others = [column for column in (left, right)[number].columns if column.name in ("city_id", "level") and column.type in INTEGERS]
        other = self.choices.one_of(others or [pair[number]])
        return (other, pair[1]) if number == 0 else (pair[0], other)

    def with_persons(self, left: Part, right: Part, by: Optional[List[Tuple[Link, Link]]] = None) -> Part:
        """The rows of two parts that are of the same persons."""
        pairs = by or (self.links_of(left, right) if self.choices.chance(0.7) or not (left.persons and right.persons) else [])
        if not pairs and not (left.persons and right.persons) and left.user is not None and self.choices.chance(0.9):
            return left
        kind, keys = self.choices.one_of(["INNER", "LEFT", "LEFT", "RIGHT"]), right.keys or left.keys
        if left.has_public_side or right.has_public_side:
            keeping, dropping, kept = ("LEFT", "RIGHT", left) if left.has_public_side else ("RIGHT", "LEFT", right)
            drops = self.choices.chance(0.08)
            kind = self.choices.one_of(["INNER", dropping]) if drops else keeping
            keys = kept.public if drops else keys
        columns = left.columns + right.columns
        equal = self.equality(left, right, pairs)
        merged: Tuple[Column, ...] = ()
        using = ""
        alike = {column.type for column in left.named("patient") + right.named("patient")}
        if not pairs and len(left.named("patient")) == len(right.named("patient")) == 1 and self.choices.chance(0.4 if len(alike) == 1 else 0.03):
            alias = self.choices.new_name("j")
            using, merged = f" USING (patient) AS {alias}", (Column(f"{alias}.patient", left.named("patient")[0].type),)
            if isinstance(left.source, Table) and isinstance(right.source, Table) and self.choices.chance(0.2):
                using, merged, kind = "", (), f"NATURAL {kind}"
        conditions = (equal,) + self.conditions(left.users + right.users if right.keys else columns, 0.9 if right.keys else 0.6)
        if not right.keys:
            conditions += self.subqueries.conditions(self.choices.one_of([left, right]), 0.5 * SUBQUERY_SHARE)
        on, where = conditions, left.where + right.where
        if not using:
            kind, on, moved = self.in_where(kind, conditions, 0.15)
            where += moved
        kept, other = (right, left) if kind.endswith("RIGHT") else (left, right)
        is_inner = kind in ("INNER", "CROSS") or kind.endswith("INNER")
        links = kept.links + tuple(replace(link, is_sure=link.is_sure and is_inner) for link in other.links)
        # What finds one row at most limits nothing.
        limiting = (kept,) if not is_inner and other.group_of else (left, right)
        persons = kept.persons or (other.persons if kind in ("INNER", "CROSS") else ())
        return Part(Join(left.source, kind, right.source, on, using), merged + columns, merged + left.users + right.users,
                    kept.user, left.public + right.public, where, left.has_public_side or right.has_public_side, keys,
                    merged + persons, left.of_groups + right.of_groups, left.has_one_row and right.has_one_row, left.side + right.side,
                    links, max(1 if side.has_one_row else side.most_rows for side in limiting))

    def part(self, depth: int) -> Optional[Part]:
        kind = self.choices.random.choices(["table", "public", "persons", "beside", "derived", "set"], [15, 25, 25, 2, 30, 8])[0]
        if depth == 0 or kind == "table":
            return self.table()
        part = self.part(depth - 1)
        if part is None:
            return None
        if kind == "persons":
            other = self.other_of_persons(part, depth - 1)
            return self.with_persons(part, other) if other else part
        if kind == "set":
            return self.set_of(part) or part
        if kind == "derived" and self.may_group(part):
            return self.derived(part, self.level_of_persons(part))
        return {"public": self.with_public, "beside": self.beside_public, "derived": self.derived}[kind](part)

    def set_of(self, part: Part) -> Optional[Part]:
        return self.sets.union(part) if part.persons and not part.has_public_side else None

    def may_group(self, part: Part) -> bool:
        has_key = bool(part.persons or self.groups.references(part))
        return has_key and self.choices.chance(0.03 if part.has_public_side else GROUP_SHARE)

    def level_of_persons(self, part: Part) -> Tuple[Select, Part]:
        """A level that computes something of the rows of each person."""
        return self.windows.level(part) if part.persons and self.choices.chance(WINDOW_SHARE) else self.groups.level(part)

    def other_of_persons(self, part: Part, depth: int) -> Optional[Part]:
        """Another table, or one of the part again, where one of the two has one row of each person, or of each row that both refer to."""
        if part.links and self.choices.chance(0.4):
            group = self.group_to_join(part)
            if group is not None:
                return group
        again = self.table_named(self.choices.one_of(self.used)) if self.choices.chance(0.4) else None
        if again is None or not again.persons:
            return self.part(depth) if self.unused else None
        if not part.has_one_row or self.choices.chance(0.4):
            return self.derived(again, self.groups.level(again, self.choices.chance(0.9)))
        return again

    def group_to_join(self, part: Part) -> Optional[Part]:
        """Groups of rows that refer to what a row of the part refers to, or to the row itself, or that it refers to."""
        tables = [self.table_named(name) for link in part.links for name in LINKS_OF.get(link.key, ())]
        found = [table for table in tables if self.groups.references(table) and self.links_of(part, table)]
        if not found:
            return None
        table = self.choices.one_of(found)
        return self.derived(table, self.groups.along_reference(table, self.choices.chance(0.9)))

    def with_public_side(self, depth: int) -> Optional[Part]:
        """A public side, and what is joined to it."""
        part = self.part(depth)
        if part is None:
            return None
        part = self.beside_public(part)
        for _ in range(self.choices.one_of([0, 1, 1, 2, 2, 3])):
            kinds = ["public", "public", "derived"] + ["persons"] * (3 if self.unused else 0)
            kind = self.choices.one_of(kinds)
            other = self.part(self.choices.random.randint(0, 2)) if kind == "persons" else None
            if other is not None:
                other = self.derived(other, self.level_of_persons(other)) if self.may_group(other) else other
                other = self.with_row(other) if self.choices.chance(0.7) else other
                sides = (part, other) if self.choices.chance(0.7) else (other, part)
                part = self.with_persons(*sides)
            elif kind == "public":
                part = self.with_public(part)
            elif kind == "derived":
                part = self.derived(part)
        return self.with_chosen_row(part) if self.choices.chance(0.3 if part.user is None else 0.1) else part

    # ---- derived tables

    def level(self, part: Part, columns: Sequence[Column], computed: bool = True) -> Tuple[Select, Part]:
        """A query with these columns of a part, and what it is as a part of FROM under the alias in its source."""
        alias = self.choices.new_name("t")
        items: List[Item] = []
        outside: List[Column] = []
        for column in columns:
            name = column.name if all(item.name != column.name for item in items) else self.choices.new_name("k")
            expr = column.expr()
            if column not in part.users and column.type in INTEGERS and computed and self.choices.chance(0.1):
                expr = Expr("coalesce", "coalesce(#, 2)", column.type, (expr,))
                if column in part.public:
                    name = self.choices.new_name("k")  # No list of a key is one of values that are computed of public ones.
            items.append(Item(expr, name))
            outside.append(Column(f"{alias}.{name}", column.type))
        of = dict(zip(columns, outside))
        users = tuple(of[column] for column in columns if column in part.users) or (outside[0],)
        persons = tuple(of[column] for column in columns if column in part.persons)
        of_groups = tuple(of[column] for column in columns if column in part.of_groups)
        side = tuple(of[column] for column in columns if column in part.side)
        public = tuple(of[column] for column, item in zip(columns, items) if column in part.public and item.expr.rule == "column")
        self.of_tables.update(of[column].sql for column in part.public if of.get(column) in public and column.sql in self.of_tables)
        if computed and self.subqueries.may_ask(part) and not part.has_public_side and self.choices.chance(0.5 * SUBQUERY_SHARE):
            items.append(Item(self.subqueries.computed(part), self.choices.new_name("n")))
            outside.append(Column(f"{alias}.{items[-1].name}", items[-1].expr.type))
        user = None
        if part.user is not None:
            items.append(Item(part.user.expr(), "whose", is_exact=True))
            user = Column(f"{alias}.whose", "int8")
        source, where = self.as_list(part)
        where += self.conditions(self.columns_of_where(part), 0.2)
        where += self.subqueries.conditions(part, 0.02 if part.has_public_side else SUBQUERY_SHARE)
        if self.choices.chance(0.04):
            where += (Expr("never", "false", "bool"),)
        select = Select("tree", tuple(items), source, where, limit="LIMIT 0" if self.choices.chance(0.03) else "")
        return select, Part(Table(alias, alias), tuple(outside), users, user, public, (), part.has_public_side, (), persons, of_groups, part.has_one_row,
                            side, self.links_above(part, of, {column: item for column, item in zip(columns, items)}), part.most_rows, part.group_of)

    def links_above(self, part: Part, of: Dict[Column, Column], items: Dict[Column, Item]) -> Tuple[Link, ...]:
        shown = [link for link in part.links if all(column in of for column in link.columns)]
        return tuple(replace(link, columns=tuple(of[column] for column in link.columns), is_sure=link.is_sure and all(items[column].expr.rule == "column" for column in link.columns))
                     for link in shown)

    def as_list(self, part: Part) -> Tuple[Source, Tuple[Expr, ...]]:
        """FROM and WHERE: an inner join may be a list with a condition in WHERE."""
        source = part.source
        if isinstance(source, Join) and source.kind == "INNER" and not source.using and self.choices.chance(0.3):
            return replace(source, kind=",", conditions=()), part.where + source.conditions
        return source, part.where

    def derived(self, part: Part, level: Optional[Tuple[Select, Part]] = None) -> Part:
        """A derived table of a level, or else of one with some of the columns of the part."""
        select, derived = level or self.level(part, self.some_columns(part))
        alias = str(derived.source.alias) if isinstance(derived.source, Table) else ""
        if not self.choices.chance(0.3):
            return replace(derived, source=Derived(select, alias))
        name = self.choices.new_name("w")
        again = tuple(Item(Expr("column", f"{name}.{item.name}", item.expr.type), item.name, item.is_exact) for item in select.items)
        cte = Cte(name, select, self.choices.one_of(["", "MATERIALIZED ", "NOT MATERIALIZED "]))
        return replace(derived, source=Derived(With((cte,), Select("tree", again, Table(name, name))), alias))

    def some_columns(self, part: Part) -> List[Column]:
        least = 1 if not part.has_public_side else min(2, len(part.columns))
        columns = self.choices.some_of(part.columns, least, len(part.columns))
        return columns + [column for column in (*part.users, *part.public) if column not in columns and self.choices.chance(0.7)]

    # ---- blocks

    def tree(self) -> Part:
        while True:
            self.used = []
            self.of_tables = set()
            of_rows = self.choices.focus.user_column is None
            unit = next((unit for unit in UNITS if self.choices.focus.name in unit), UNITS[0])
            self.unused = ["calls"] if of_rows else self.choices.some_of(list(unit), 3, 3)
            self.in_subqueries = list(unit)
            if not of_rows and self.choices.focus.name not in self.unused:
                self.unused[0] = self.choices.focus.name
            self.choices.random.shuffle(self.unused)
            shape = self.choices.random.choices(["beside", "deep", "any", "groups", "tables"], [8, 2, 1, 0 if of_rows else 6, 3])[0]
            part = self.of_shape(shape)
            for _ in range(self.choices.random.randint(1, 3) if part is not None and shape == "deep" else 0):
                assert part is not None
                part = self.derived(part)
            if part is not None:
                return part

    def of_shape(self, shape: str) -> Optional[Part]:
        if shape == "groups":
            return self.of_groups()
        if shape == "beside":
            return self.with_public_side(self.choices.random.randint(0, 2))
        if shape == "tables":
            return self.beside_tables()
        return self.part(self.choices.random.randint(1, 4))

    def beside_tables(self) -> Optional[Part]:
        """Rows with those of public tables, by which plain blocks group."""
        part = self.part(self.choices.one_of([0, 0, 1]))
        for _ in range(self.choices.one_of([1, 1, 2]) if part is not None and not part.has_public_side else 0):
            assert part is not None
            part = self.with_public(part)
            part = self.derived(part) if self.choices.chance(0.3) else part
        return part

    def of_groups(self) -> Optional[Part]:
        """Groups of persons, perhaps of groups, perhaps joined."""
        part = self.part(self.choices.one_of([0, 0, 1, 2]))
        for _ in range(self.choices.one_of([1, 1, 1, 2, 2, 3]) if part is not None else 0):
            assert part is not None
            if part.persons and not part.has_public_side:
                part = self.derived(part, self.level_of_persons(part))
            kind = self.choices.random.choices(["", "persons", "public", "derived", "set"], [5, 3, 1, 1, 1])[0]
            other = self.other_of_persons(part, 1) if kind == "persons" else None
            if other is not None:
                part = self.with_persons(*((part, other) if self.choices.chance(0.6) else (other, part)))
            elif kind in ("public", "derived"):
                part = self.with_public(part) if kind == "public" else self.derived(part)
            elif kind == "set":
                part = self.set_of(part) or part
        return part

    def most_rows(self, part: Part) -> Optional[int]:
        if part.user is None:
            return None
        return 1 if part.has_one_row else part.most_rows

    def least_limit(self, part: Part, has_keys: bool) -> Optional[int]:
        """Of which rows, or groups, a query sees all."""
        groups = [MOST_GROUPS[name] for name in self.used if name in MOST_GROUPS and has_keys]
        return min([self.most_rows(part) or 1, *groups])

    def query(self) -> Query:
        """A block, or several, of a tree or of a CTE of one."""
        part = self.tree()
        if not self.choices.chance(0.12):
            return self.block(part)
        select, of_cte = self.level_of_persons(part) if self.may_group(part) else self.level(part, part.columns)
        name = str(of_cte.source.alias) if isinstance(of_cte.source, Table) else ""
        cte = Cte(name, select, self.choices.one_of(["", "MATERIALIZED ", "NOT MATERIALIZED "]))
        if self.choices.chance(0.3):
            answers = [replace(block, items=(Item(Expr("answer as text", "(#)::text", "text", (block.items[0].expr,)), "answer"),))
                       for block in (self.block(of_cte, has_keys=False) for _ in range(2))]
            return With((cte,), SetOperation("UNION ALL", tuple(answers)))
        if self.choices.chance(0.3):
            return With((cte,), self.block(self.read_twice(of_cte, name)))
        return With((cte,), self.block(of_cte))

    def read_twice(self, part: Part, name: str) -> Part:
        alias = self.choices.new_name("t")
        def again(columns: Tuple[Column, ...]) -> Tuple[Column, ...]:
            return tuple(Column(f"{alias}.{column.name}", column.type) for column in columns)
        other = replace(part, source=Table(name, alias), columns=again(part.columns), users=again(part.users), public=again(part.public),
                        persons=again(part.persons), of_groups=again(part.of_groups), side=again(part.side), user=part.user and again((part.user,))[0],
                        links=tuple(replace(link, columns=again(link.columns)) for link in part.links))
        return self.with_persons(part, other)

    def block(self, part: Part, has_keys: Optional[bool] = None) -> Select:
        has_tables = not part.has_public_side and any(column.sql in self.of_tables for column in part.public)
        if has_keys is None and self.choices.chance(TABLES_SHARE if has_tables else PLAIN_SHARE):
            return self.plain.block(part)
        rows = Rows(part.source, part.columns, "", part.user and (part.persons or part.users)[0].sql, self.most_rows(part))
        if has_keys is None:
            has_keys = bool(part.public) and self.choices.chance(0.8 if part.has_public_side else 0.2)
            has_keys |= bool(part.of_groups) and not part.has_public_side and not self.choices.in_rho and self.choices.chance(0.2)
        keys = self.keys_of(part) if has_keys else ()
        items = tuple(Item(key, self.choices.new_name("k")) for key in keys)
        items += tuple(Item(self.answer(part, rows), self.choices.new_name("a")) for _ in range(self.choices.one_of([1, 1, 2])))
        having = self.conditions(part.public, 0.1) if keys and part.public == part.columns else ()
        if keys and not self.choices.in_rho and self.choices.chance(0.9 if not part.has_public_side else 0.5 if part.user is None else 0.2):
            having += (self.blocks.selection(rows if self.choices.chance(0.5) else replace(rows, user=None)),)
        if keys and self.choices.chance(0.1):
            key = self.choices.one_of(keys)
            texts = ["# IS NOT NULL", "true", "1 < 2", "NULL::bool", "false"] + ["# < 4"] * 4 * (key.type in NUMBERS)
            text = self.choices.one_of(texts)
            having += (Expr("condition on a key", text, "bool", (key,) * text.count("#")),)
        if part.user is not None:
            items += (Item(replace(part.user.expr(), bound=self.least_limit(part, bool(keys))), "whose", is_exact=True),)
        source, where = self.as_list(part)
        where += self.conditions(self.columns_of_where(part), 0.25)
        where += self.subqueries.conditions(part, 0.02 if part.has_public_side else SUBQUERY_SHARE)
        limit = self.choices.one_of(LIMITS) if self.choices.chance(0.05) else ""
        return Select(self.kind_of_block(part, keys), items, source, where, keys, having, (), limit)

    def kind_of_block(self, part: Part, keys: Sequence[Expr]) -> str:
        """Keys of protected rows, which a public side refuses, may have a public list, which shows groups without rows."""
        public = {column.sql for column in part.public}
        is_public = part.has_public_side or all(child.sql() in public for key in keys for child in key.children or (key,))
        return "block over a tree" if is_public else "block by computed keys"

    def keys_of(self, part: Part) -> Tuple[Expr, ...]:
        columns = self.choices.some_of(part.keys if part.keys and self.choices.chance(0.7) else part.public, 1, 2)
        if part.side and self.choices.chance(SIDE_SHARE):
            columns = self.choices.some_of(part.side, 1, 2)
        of_groups = [column for column in part.of_groups if column.type in (*INTEGERS, "text")]
        if not columns or of_groups and not part.has_public_side and self.choices.chance(0.5):
            columns = self.choices.some_of(of_groups or part.columns, 1, 2)
        if self.choices.chance(0.05):
            columns = [self.choices.one_of(part.columns)]
        keys = [column.expr() for column in columns]
        if keys[0].type in INTEGERS and self.choices.chance(0.05):
            keys[0] = Expr("coalesce", "coalesce(#, 0)", keys[0].type, (keys[0],))
        return tuple(keys)

    def counts_all(self, part: Part, values: Tuple[Expr, ...]) -> bool:
        """No row is chosen where there is one of each person: a count of rows counts the public ones without a person, too."""
        return part.has_one_row and part.has_public_side and not values

    def answer(self, part: Part, rows: Rows) -> Expr:
        """A private aggregate, of a protected column if a row may be absent."""
        if self.choices.chance(0.05 if part.has_public_side else 0.2):
            return self.blocks.aggregate(rows, self.choices.one_of([0, 1]))
        among = aggregates.EXACT_IN_RHO if self.choices.in_rho else aggregates.EXACT
        aggregate, exact = self.choices.one_of([pair for pair in among if "#" in pair[0].text] if part.has_public_side and self.choices.chance(0.9) else among)
        columns = part.protected if part.protected and self.choices.chance(0.9) else part.columns
        if "#" in aggregate.text and "count" not in aggregate.text:
            columns = tuple(column for column in columns if column.type in INTEGERS)
            if not columns:
                return self.blocks.aggregate(rows, 0)
        values = tuple(self.choices.one_of(columns).expr() for _ in range(aggregate.text.count("#")))
        text, conditions = aggregate.text, [] if part.user is None or self.counts_all(part, values) else [f"{part.user.sql} IS NOT NULL"]
        if self.choices.chance(0.1):
            text += " FILTER (WHERE #)"
            conditions.append("#")
            values += self.subqueries.conditions(part, SUBQUERY_SHARE) or (self.condition(part.columns),)
        exact_text = exact.format(f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else "")
        return Expr(aggregate.text, text, aggregate.result, values, True, aggregate.bound and aggregate.bound * (rows.most_rows or 1), exact_text)

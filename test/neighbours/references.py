"""Rows of tables that are protected through others: orders of clients, lines and tips of orders, parts of lines, and invoices whose person is copied; and of
chats in rooms, where the analyst may read the rooms, and of receipts of orders, which the analyst may read.

An order has ten times the number of its person, and some more: so the rows of a person are known by their numbers. Some orders are
nobody's, some references are NULL, and some lead nowhere, as those of rows that were loaded without their foreign keys."""

from __future__ import annotations

from random import Random
from typing import Dict, List, Optional, Sequence, Tuple

from rows import Row, Value

TABLES = ("clients", "orders", "lines", "parts", "invoices", "tips", "chats", "passes")
# What tells the person of a row, for a statement that deletes it
KEYS = {"clients": "patient", "orders": "id / 10", "lines": "order_id / 10", "parts": "order_no / 10", "invoices": "patient", "tips": "order_id / 10", "chats": "room_id / 10", "passes": "id / 10"}
# The columns by which a table without persons is protected
USERS = {"lines": "order_id", "tips": "order_id", "parts": "line", "chats": "room_id"}
PERSONS = 9
HOLDERS = (*range(1, PERSONS + 1), 10, 12)  # of rooms; also persons who are in one database only
OF_NOBODY = ("900", "901", "902")  # orders
NOWHERE = ("990", "991")
SCORES = ("0.25", "1e16", "-1e16", "3", "0.5", "-0")  # of which PostgreSQL's sums depend on the order


def small(random: Random, most: int) -> Value:
    return None if random.random() < 0.12 else str(random.randint(1, most))


def orders_of(person: Optional[str], ids: Sequence[str], random: Random) -> List[Row]:
    return [(number, person, small(random, 5), small(random, 4)) for number in ids]


def lines_of(orders: Sequence[Value], random: Random) -> List[Row]:
    """Lines of these orders, with different numbers."""
    pairs = {(order, str(random.randint(1, 4))) for order in orders}
    # Perhaps the city of all of them is the number of somebody's order.
    city = random.choice([None, None, f"{random.randint(1, PERSONS)}{random.randint(0, 3)}"])
    return [(order, line, city or small(random, 5), small(random, 4), random.choice(SCORES)) for order, line in sorted(pairs, key=str)]


def parts_of(lines: Sequence[Row], random: Random) -> List[Row]:
    """Parts of lines, of which some lack a half of the reference."""
    rows = [(line[1], line[0], small(random, 5), small(random, 4)) for line in lines]
    return [row if random.random() < 0.9 else (None,) + row[1:] for row in rows]


def invoices_of(person: Optional[str], orders: Sequence[Value], random: Random) -> List[Row]:
    """Some name an order of somebody else: they break their key."""
    return [(order if random.random() < 0.85 else random.choice([None, "11", "20", *NOWHERE]), person, small(random, 5), small(random, 4)) for order in orders]


def tips_of(orders: Sequence[Value], random: Random) -> List[Row]:
    return [(order, small(random, 5), small(random, 4)) for order in orders]


def rows_of_person(person: str, random: Random) -> Dict[str, Tuple[Row, ...]]:
    ids = [f"{person}{digit}" for digit in random.sample(range(4), random.choice([0, 1, 1, 2, 3]))]
    orders = orders_of(person, ids, random)
    lines = lines_of([random.choice(ids) for _ in range(random.choice([0, 1, 2, 4, 20]))] if ids else [], random)
    parts = parts_of([random.choice(lines) for _ in range(random.choice([0, 1, 2]))] if lines else [], random)
    invoices = invoices_of(person, random.sample(ids, random.randint(0, len(ids))), random)
    passes = orders_of(person, [f"{person}{digit}" for digit in random.sample(range(4), random.choice([0, 1, 1, 2, 3]))], random)
    tips = tips_of([random.choice(ids) for _ in range(random.choice([0, 1, 1, 2, 5]))] if ids else [], random)
    chats = [(f"{person}{random.randint(0, 2)}", small(random, 5), small(random, 4)) for _ in range(random.choice([0, 1, 2, 5]))] if int(person) in HOLDERS else []
    clients = [(person, small(random, 5), small(random, 4))] if random.random() < 0.7 else []
    return {"clients": tuple(clients), "orders": tuple(orders), "lines": tuple(lines), "parts": tuple(parts), "invoices": tuple(invoices), "tips": tuple(tips), "chats": tuple(chats), "passes": tuple(passes)}


def all_rows(random: Random) -> Dict[str, List[Row]]:
    """Those of some persons and of nobody."""
    found: Dict[str, List[Row]] = {table: [] for table in TABLES}
    for person in random.sample(range(1, PERSONS + 1), 4):
        for table, rows in rows_of_person(str(person), random).items():
            found[table] += rows
    found["orders"] += orders_of(None, OF_NOBODY, random)
    found["lines"] += lines_of([*OF_NOBODY[:2], *NOWHERE, None, None], random)
    found["parts"] += parts_of(random.sample(found["lines"], min(3, len(found["lines"]))), random) + [("1", "990", "1", "1"), (None, None, "2", "2")]
    found["invoices"] += [("900", None, "1", "2"), ("990", None, "2", "1")]
    found["clients"] += [(None, "1", "1")]
    found["passes"] += orders_of(None, OF_NOBODY, random)
    found["tips"] += tips_of([OF_NOBODY[0], NOWHERE[0], None], random)
    found["chats"] += [(room, small(random, 5), small(random, 4)) for room in (OF_NOBODY[0], NOWHERE[0], None)]
    return found


def readable_rows(random: Random) -> Dict[str, List[Row]]:
    """Those that the analyst may read are the same in both databases, whatever they refer to. Their numbers are those of levels, cities and orders."""
    rooms = [(f"{person}{digit}", str(person), small(random, 5), small(random, 4)) for person in HOLDERS for digit in range(3)]
    rooms += [(number, None, small(random, 5), small(random, 4)) for number in OF_NOBODY[:1]]
    rooms += [(str(number), str(random.choice(HOLDERS)), small(random, 5), small(random, 4)) for number in range(1, 6)]
    orders = random.sample([f"{person}{digit}" for person in HOLDERS for digit in range(4)], 12)
    receipts = [(str(number + 1), order if random.random() < 0.9 else None, small(random, 5), small(random, 4)) for number, order in enumerate(orders)]
    return {"rooms": rooms, "receipts": receipts}


def of_nobody(rows: Sequence[Row]) -> List[Row]:
    """The rows of a table without what the analyst may not read of them."""
    return [(number, None, city, None) for number, _, city, _ in rows]


def with_other_levels(rows: Sequence[Row], random: Random) -> Tuple[Row, ...]:
    """What the analyst may read of the rows stays."""
    return tuple((number, person, city, small(random, 4)) for number, person, city, _ in rows)


def person_of(table: str, row: Row) -> Optional[str]:
    """The person by the numbers of a row."""
    value = row[{"clients": 0, "orders": 0, "lines": 0, "parts": 1, "invoices": 1, "tips": 0, "chats": 0, "passes": 0}[table]]
    if value is None or table in ("clients", "invoices"):
        return value
    return None if value in OF_NOBODY + NOWHERE else value[:-1]

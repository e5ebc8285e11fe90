"""The rows of the protected tables: tame ones, odd ones, and the row in which two neighbours differ. A value is a text or None."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Callable, Dict, List, Optional, Tuple

Value = Optional[str]
Row = Tuple[Value, ...]
Columns = Dict[str, str]  # the name of each column, and its type

ODD_VALUES: Dict[str, List[str]] = {
    "int2": ["0", "-32768", "32767", "-1", "5"],
    "int4": ["0", "-2147483648", "2147483647", "-1", "5", "999"],
    "int8": ["0", "-9223372036854775808", "9223372036854775807", "9007199254740993", "-7"],
    "numeric": ["0", "NaN", "-0.0001", "9999999999999999.9999", "1e-4", "-5"],
    "float4": ["0", "NaN", "Infinity", "-Infinity", "3.4e38", "1e-45", "-0"],
    "float8": ["0", "NaN", "Infinity", "-Infinity", "1.7e308", "5e-324", "-0", "-3.5"],
    "text": ["", "\\", "Sa\\", "Sal", "a%b_c", "ärger", "12x", "2024-02-30", "0", "x" * 3000, "Sales ", "e(", "Archive"],
    "varchar": ["", "\\", "12", "a%", "ß", "Sal\\"],
    "date": ["infinity", "-infinity", "4713-01-01 BC", "2024-02-29", "5874897-12-31"],
    "timestamp": ["infinity", "-infinity", "4713-01-01 BC", "2024-03-31 02:30", "294276-12-31 23:59:59"],
    "timestamptz": ["infinity", "-infinity", "4713-01-02 BC", "2024-03-31 02:30+01", "294276-12-31 00:00:00+00"],
    "interval": ["0", "-1 day", "178000000 years", "1 month -30 days", "00:00:00.000001"],
    "time": ["00:00", "24:00", "23:59:59.999999"],
    "bool": ["t", "f"],
    "mood": ["low", "high"],
    "percent": ["0", "-1", "2147483647"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "text[]": ["{}", "{NULL}", "[5:6]={x,y}", "{{a,b},{c,d}}"],
    "bytea": ["\\x", "\\xff00"],
    "jsonb": ["null", "[]", '{"a": "x"}', '"a"', '{"a": 1e300}'],
}

TAME_VALUES: Dict[str, Callable[[Random], str]] = {
    "int2": lambda random: str(random.randint(1, 9)),
    "int4": lambda random: str(random.randint(18, 90)),
    "int8": lambda random: str(random.randint(1000, 10**10)),
    "numeric": lambda random: f"{random.uniform(1000, 90000):.2f}",
    "float4": lambda random: str(random.randint(1, 64) / 4),
    "float8": lambda random: f"{random.uniform(1, 100):.6f}",
    "text": lambda random: random.choice(["alpha", "beta", "gamma", "Sales", "delta nine"]),
    "varchar": lambda random: random.choice(["10", "20", "30"]),
    "date": lambda random: f"2024-{random.randint(1, 2):02}-{random.randint(1, 28):02}",
    "timestamp": lambda random: f"2024-{random.randint(1, 2):02}-{random.randint(1, 28):02} 1{random.randint(0, 9)}:30",
    "timestamptz": lambda random: f"2024-{random.randint(1, 2):02}-{random.randint(1, 28):02} 1{random.randint(0, 9)}:30+00",
    "interval": lambda random: f"{random.randint(1, 90)} minutes",
    "time": lambda random: f"{random.randint(8, 17):02}:15",
    "bool": lambda random: random.choice("ttttf"),
    "mood": lambda random: random.choice(["low", "middle", "high"]),
    "percent": lambda random: str(random.randint(1, 99)),
    "uuid": lambda random: f"{random.getrandbits(32):08x}-0000-4000-8000-000000000000",
    "text[]": lambda random: random.choice(["{x}", "{x,y}", "{y,z}"]),
    "bytea": lambda random: random.choice(["\\x6162", "\\x63"]),
    "jsonb": lambda random: random.choice(['{"a": 1}', '{"a": 2, "b": "x"}']),
}

LARGE_GROUPS = ["Sales", "Support", "Engineering", "Research"]
LONE_GROUPS = ["Archive", "Legal", "Board"]
CITIES = 12
BOSSES = 5
FIRST_NEW_ID = 1000
TOO_LONG = 70000  # bytes of a text that no query reads


def special_value(column: str, kind: str, random: Random) -> Optional[str]:
    """A value that says more than its type: keys of joins and names of groups."""
    if column in ("department", "ward", "place"):
        return random.choice(LARGE_GROUPS)
    if column in ("city_id", "town_id"):
        return str(random.randint(1, CITIES - 2))
    if column == "boss":
        return str(random.randint(1, BOSSES))
    if column == "amount" and kind == "numeric":
        return random.choice(["10", "10.0", "20.00", "20", "30", "12.5"])  # equal values that look different
    return None


def tame_value(column: str, kind: str, random: Random) -> str:
    return special_value(column, kind, random) or TAME_VALUES[kind](random)


def odd_value(kind: str, random: Random) -> Value:
    return random.choice([None, *ODD_VALUES[kind]])


def tame_row(columns: Columns, number: int, random: Random) -> Row:
    return tuple(str(number) if name == "id" else tame_value(name, kind, random) for name, kind in columns.items())


def odd_row(columns: Columns, number: int, random: Random) -> Row:
    """Some of its values are odd, or those of a group of its own, or keys that no other table has."""
    def value(name: str, kind: str) -> Value:
        if name == "id":
            return str(number)
        if name == "day" and kind == "date" and random.random() < 0.5:
            return random.choice(["2031-01-01", "2024-03-05"])
        if name in ("city_id", "town_id") and random.random() < 0.3:
            return str(CITIES)
        odd_share = 0.6 if special_value(name, kind, random) is None else 0.3
        return odd_value(kind, random) if random.random() < odd_share else tame_value(name, kind, random)
    return tuple(value(name, kind) for name, kind in columns.items())


def small_row(columns: Columns, number: int, random: Random, patients: int = 9) -> Row:
    """A row of a small table: few users, few keys, many NULLs. A new one may be alone with its key."""
    def value(name: str, kind: str) -> Value:
        if name == "id":
            return str(number)
        if random.random() < 0.15:
            return None
        if name == "day":
            return f"2024-01-{random.randint(1, 4):02}"
        digits = str(random.randint(1, {"patient": patients, "city_id": 5 if number < FIRST_NEW_ID else 9}.get(name, 4)))
        if name == "price" or name == "patient" and kind == "numeric":
            return digits + random.choice(["", ".0", ".00"])  # equal values that look different
        if name == "patient" and kind == "text" and digits in "89":
            return digits * TOO_LONG
        return random.choice([digits, "NaN", "-0", "0.1", "1e16"]) if kind == "float8" else digits
    return tuple(value(name, kind) for name, kind in columns.items())


def rows_of_table(columns: Columns, count: int, odd_share: float, random: Random) -> List[Row]:
    """Rows with the numbers 1 to count: some groups are large, some have one row."""
    rows = [odd_row(columns, number, random) if random.random() < odd_share else tame_row(columns, number, random)
            for number in range(1, count + 1)]
    names = list(columns)
    for group, number in zip(LONE_GROUPS, (7, 70, 170)):
        for name in ("department", "ward", "place"):
            if name in names and number < count:
                row = list(rows[number])
                row[names.index(name)] = group
                rows[number] = tuple(row)
    return rows


@dataclass(frozen=True)
class Change:
    """What one of two neighbours has and the other has not, or otherwise: one row, or all rows of one user, or nothing."""

    table: str
    rows: Tuple[Row, ...]
    is_new: bool  # rows that neither had before; else rows that both had
    side: int     # the database that has them
    key: str      # of the row, or of the user
    others: Tuple[Tuple[str, Tuple[Row, ...]], ...] = ()  # rows of the same user in other tables of the unit
    instead: Tuple[Tuple[str, Tuple[Row, ...]], ...] = ()  # what the other database has in their place

    @property
    def distance(self) -> int:
        """How many rows, or users, must be added or removed on the way from one to the other. None if they have the same rows in another order."""
        return bool(self.key) + bool(self.instead)

    def parts(self) -> Tuple[Tuple[str, Tuple[Row, ...]], ...]:
        return ((self.table, self.rows),) + self.others

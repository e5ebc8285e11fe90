"""How a query is sent: as it is, prepared, through a cursor, a table, COPY, or inside code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Callable, Dict, List, Optional, Tuple

from expressions import Parameters
from sql_tree import Query

EXPECTED_ROWS = 20
LATE_ROWS = "SELECT add_to_late()"


class Shows(Enum):
    """Which rows of a query a statement shows. They are compared by what the query says of its columns."""

    ALL_ROWS = 1
    SOME_ROWS = 2
    OTHER = 3


@dataclass(frozen=True)
class Step:
    """A statement."""

    sql: str
    shows: Shows = Shows.OTHER


@dataclass(frozen=True)
class Form:
    """A way to send a query. Parameters are for those that prepare it."""

    name: str
    parameters: Optional[Parameters] = None

    def steps(self, query: Query) -> Tuple[Step, ...]:
        text = query.sql()
        steps = FORMS[self.name](text, self.parameters)
        if "late AS" in text and steps[0].sql != "BEGIN":
            steps = [Step("BEGIN"), Step(LATE_ROWS), *steps, Step("ROLLBACK")]
        return tuple(steps)

    def with_values(self, text: str) -> str:
        """A query with values in the place of parameters."""
        of = self.parameters or Parameters()
        return re.sub(r"\$(\d+)", lambda match: f"CAST({of.values[int(match[1]) - 1]} AS {of.types[int(match[1]) - 1]})", text)


def plain(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step(text, Shows.ALL_ROWS)]


def in_transaction(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step("BEGIN"), Step(text, Shows.ALL_ROWS), Step("SAVEPOINT s"), Step("ROLLBACK")]


def prepared(text: str, parameters: Optional[Parameters]) -> List[Step]:
    assert parameters is not None
    types = f" ({', '.join(parameters.types)})" if parameters.types else ""
    execute = f"EXECUTE q ({', '.join(parameters.values)})" if parameters.types else "EXECUTE q"
    return [Step(f"PREPARE q{types} AS {text}"), Step(execute, Shows.ALL_ROWS), Step("DEALLOCATE q")]


def generic(text: str, parameters: Optional[Parameters]) -> List[Step]:
    steps = prepared(text, parameters)
    return [Step("SET plan_cache_mode = force_generic_plan"), *steps[:2], *steps[1:], Step("RESET plan_cache_mode")]


def often_prepared(text: str, parameters: Optional[Parameters]) -> List[Step]:
    """After five executions PostgreSQL compares the costs of plans."""
    steps = prepared(text, parameters)
    counts = Step("SELECT generic_plans, custom_plans, parameter_types FROM pg_prepared_statements")
    return [steps[0], *[steps[1]] * 7, counts, steps[2]]


def cursor(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step("BEGIN"), Step(f"DECLARE q SCROLL CURSOR FOR {text}"), Step("FETCH 2 FROM q", Shows.SOME_ROWS),
            Step("FETCH BACKWARD 1 FROM q", Shows.SOME_ROWS), Step("MOVE FORWARD ALL IN q"), Step("FETCH BACKWARD 2 FROM q", Shows.SOME_ROWS), Step("ROLLBACK")]


def table(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step("BEGIN"), Step(f"CREATE TEMP TABLE answers AS {text}"), Step("SELECT * FROM answers", Shows.ALL_ROWS), Step("ROLLBACK")]


def view(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step("BEGIN"), Step(f"CREATE TEMP VIEW answers AS {text}"), Step("SELECT * FROM answers", Shows.ALL_ROWS), Step("ROLLBACK")]


def copied(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step(f"COPY ({text}) TO STDOUT", Shows.ALL_ROWS)]


def block_of_code(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step(f"DO $do$ DECLARE r record; n int = 0; BEGIN FOR r IN {text} LOOP n = n + 1; END LOOP; "
                 "PERFORM set_config('fuzz.rows', n::text, false); END $do$"), Step("SELECT current_setting('fuzz.rows', true)")]


def explained(text: str, _: Optional[Parameters]) -> List[Step]:
    return [Step(f"EXPLAIN (COSTS) {text}"), Step(f"EXPLAIN (ANALYZE, TIMING off) {text}")]


FORMS: Dict[str, Callable[[str, Optional[Parameters]], List[Step]]] = {
    "plain": plain, "in a transaction": in_transaction, "prepared": prepared, "generic": generic, "often prepared": often_prepared,
    "cursor": cursor, "table": table, "view": view, "copied": copied, "code": block_of_code, "explained": explained,
}
WEIGHTS = {"plain": 48, "in a transaction": 5, "prepared": 9, "generic": 5, "often prepared": 7, "cursor": 5, "table": 5, "view": 4,
           "copied": 3, "code": 2, "explained": 1}


def random_form(random: Random) -> Form:
    name = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    return Form(name, Parameters() if "prepared" in name or name == "generic" else None)

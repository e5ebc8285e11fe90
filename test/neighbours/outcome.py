"""What a session shows for a statement."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Optional, Tuple

import psycopg2
import psycopg2.extensions

DIAGNOSTICS = ("sqlstate", "severity", "message_primary", "message_detail", "message_hint", "statement_position",
               "internal_position", "internal_query", "context", "schema_name", "table_name", "column_name", "datatype_name",
               "constraint_name")
REFUSED = ("42501", "0A000", "55000", "54000")
REFUSAL = "Only differentially private queries are allowed on "

Row = Tuple[Optional[str], ...]


@dataclass(frozen=True)
class Outcome:
    """An error or rows, and what came with them."""

    error: Tuple[Optional[str], ...] = ()
    notices: Tuple[str, ...] = ()
    tag: str = ""
    columns: Tuple[Tuple[str, int], ...] = ()
    rows: Tuple[Row, ...] = ()

    @property
    def sqlstate(self) -> str:
        return str(self.error[0]) if self.error else "00000"

    def diagnostic(self, name: str) -> str:
        """A field of the error, or an empty text."""
        return str(self.error[DIAGNOSTICS.index(name)] or "") if self.error else ""

    @property
    def was_refused(self) -> bool:
        return self.sqlstate in REFUSED or self.diagnostic("message_detail").startswith(REFUSAL)

    @property
    def failed_for_value(self) -> bool:
        """A division by zero or a name that does not exist, also the refusal of a statement after it in the same transaction."""
        return not self.was_refused and (self.sqlstate[:2] in ("22", "25") or self.sqlstate in ("42P01", "42602"))

    def __str__(self) -> str:
        if self.error:
            texts = [f"{name}: {text}" for name, text in zip(DIAGNOSTICS, self.error) if text]
        else:
            texts = [self.tag, *(" | ".join("NULL" if value is None else value[:80] for value in row) for row in self.rows[:30])]
            if len(self.rows) > 30:
                texts.append("...")
        return "\n".join([*self.notices, *texts])


def use_texts() -> None:
    """From now on every value comes as the text that the server sends, or None."""
    psycopg2.extensions.string_types.clear()


def execute(connection: psycopg2.extensions.connection, sql: str) -> Outcome:
    """Executes a statement of a connection in autocommit mode."""
    del connection.notices[:]
    try:
        with connection.cursor() as cursor:
            if sql.startswith("COPY"):
                return copy(connection, cursor, sql)
            cursor.execute(sql)
            columns = tuple((column.name, column.type_code) for column in cursor.description or ())
            rows = tuple(cursor.fetchall()) if columns else ()
            return Outcome((), tuple(connection.notices), cursor.statusmessage or "", columns, rows)
    except psycopg2.Error as error:
        if connection.closed:
            raise
        return Outcome(tuple(getattr(error.diag, name) for name in DIAGNOSTICS), tuple(connection.notices))


def copy(connection: psycopg2.extensions.connection, cursor: psycopg2.extensions.cursor, sql: str) -> Outcome:
    """The rows of COPY TO STDOUT."""
    lines = io.StringIO()
    cursor.copy_expert(sql, lines)
    rows = tuple(tuple(None if value == "\\N" else value for value in line.split("\t"))
                 for line in lines.getvalue().split("\n")[:-1])
    return Outcome((), tuple(connection.notices), f"COPY {cursor.rowcount}", (), rows)

"""A session, and all that the server sends to it: a client of the protocol itself, because drivers leave some of it out."""

from __future__ import annotations

import os
import re
import socket
import struct
from dataclasses import dataclass
from typing import List, Optional, Tuple

Row = Tuple[Optional[str], ...]
Fields = Tuple[Tuple[str, str], ...]

VERSION = 196608  # 3.0
NAMES = {"S": "severity", "V": "level", "C": "sqlstate", "M": "message", "D": "detail", "H": "hint", "P": "position", "p": "internal position",
         "q": "internal query", "W": "context", "s": "schema", "t": "table", "c": "column", "d": "type", "n": "constraint", "F": "file", "L": "line",
         "R": "routine"}


@dataclass(frozen=True)
class Shown:
    """What came for a statement: the fields of an error, those of notices, rows, the kinds of other messages, and the state of the
    transaction after it (I, T, E), or an empty text if the session has ended."""

    error: Fields = ()
    notices: Tuple[Fields, ...] = ()
    rows: Tuple[Row, ...] = ()
    others: str = ""
    status: str = ""

    def field(self, name: str) -> str:
        return dict(self.error).get(name, "")


def fields_of(body: bytes) -> Fields:
    return tuple((NAMES.get(part[0], part[0]), re.sub(r"pg_temp_\d+", "pg_temp", part[1:])) for part in body.decode().split("\0") if part)


def row_of(body: bytes) -> Row:
    values: List[Optional[str]] = []
    at = 2
    for _ in range(struct.unpack("!H", body[:2])[0]):
        size = struct.unpack("!i", body[at:at + 4])[0]
        at += 4
        values.append(None if size < 0 else body[at:at + size].decode())
        at += max(size, 0)
    return tuple(values)


class Session:
    def __init__(self, user: str, schema: str = "public"):
        self.is_closed = False
        self.received = b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{os.environ['PGHOST']}/.s.PGSQL.{os.environ['PGPORT']}")
        body = f"user\0{user}\0database\0{os.environ['PGDATABASE']}\0client_encoding\0UTF8\0\0".encode()
        self.socket.sendall(struct.pack("!ii", len(body) + 8, VERSION) + body)
        if self.shown().error:
            raise RuntimeError(f"{user} cannot connect")
        self.rows(f"SET search_path = {schema}, public")

    def bytes_of(self, size: int) -> bytes:
        while len(self.received) < size:
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                self.is_closed = True
                return b""
            self.received += more
        taken, self.received = self.received[:size], self.received[size:]
        return taken

    def shown(self) -> Shown:
        """All messages until the server waits for the next statement, or ends the session."""
        error: Fields = ()
        notices: List[Fields] = []
        rows: List[Row] = []
        others = ""
        while True:
            head = self.bytes_of(5)
            body = self.bytes_of(struct.unpack("!i", head[1:])[0] - 4) if head else b""
            if self.is_closed:
                return Shown(error, tuple(notices), tuple(rows), others)
            kind = chr(head[0])
            if kind == "Z":
                return Shown(error, tuple(notices), tuple(rows), others, body.decode())
            if kind == "E":
                error += fields_of(body)
            elif kind == "N":
                notices.append(fields_of(body))
            elif kind == "D":
                rows.append(row_of(body))
            else:
                others += kind

    def show(self, sql: str) -> Shown:
        body = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self.shown()

    def rows(self, sql: str) -> Tuple[Row, ...]:
        """Of a statement that must not fail."""
        shown = self.show(sql)
        if shown.error or self.is_closed:
            raise RuntimeError(f"{sql}\n{shown}")
        return shown.rows

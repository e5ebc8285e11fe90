"""What docs/privacy.md promises of a fault that one row has made ("Early ends")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Sequence

from session import Row, Shown

NOT_ANSWERED = "the query could not be answered"
TIMEOUT = "canceling statement due to lock timeout"
CLOSED = "Private access to its tables is closed until their owner opens it again (dp_open_private_access). The server log says why."
COUNTED = ("The server ran out of memory, disk or another resource, or ended the query; its log says which. The query was charged, and counts for "
           "most_cancels.")
# Where the message was made. It is compared between two faults.
PLACES = ("file", "line", "routine", "context")


@dataclass(frozen=True)
class Fault:
    """What happens for the row: an action of faults.cpp, or timeout, a lock that is not granted; its SQLSTATE."""

    action: str
    code: str

    def __str__(self) -> str:
        return f"{self.action} {self.code}"

    @property
    def ends_query(self) -> bool:
        return self.action in ("error", "timeout", "fatal")

    @property
    def closes(self) -> bool:
        return self.action == "error" and self.code[:2] not in ("08", "40", "53", "57") and self.code != "55P03"

    @property
    def sqlstate(self) -> str:
        return "57P01" if self.action == "fatal" else "58000" if self.closes else self.code

    @property
    def error(self) -> Dict[str, str]:
        level = "FATAL" if self.action == "fatal" else "ERROR"
        fields = {"severity": level, "level": level, "sqlstate": self.sqlstate}
        if self.action == "timeout":
            return {**fields, "message": TIMEOUT}
        return {**fields, "message": NOT_ANSWERED, "hint": CLOSED if self.closes else COUNTED}

    def notes(self, noted: Sequence[Row]) -> Optional[str]:
        expected = [(None if self.action == "fatal" else self.code, "t" if self.closes else "f")] if self.ends_query else []
        return None if [row[1:] for row in noted] == expected else f"notes {noted}"


def promised(shown: Shown, fault: Fault, noted: Sequence[Row]) -> Optional[str]:
    """What is not as promised, or None."""
    if "secret" in str(shown):
        return f"shows the secret: {shown}"
    if shown.notices:
        return f"shows messages: {shown.notices}"
    fields = {name: value for name, value in shown.error if name not in PLACES}
    if fields != (fault.error if fault.ends_query else {}):
        return f"shows {shown}"
    return fault.notes(noted)


def caught(shown: Shown, fault: Fault, noted: Sequence[Row]) -> Optional[str]:
    """The same where an exception block tells in a notice what it has caught."""
    if fault.action == "fatal":
        return promised(shown, fault, noted)
    if "secret" in str(shown):
        return f"shows the secret: {shown}"
    told = f"{fault.sqlstate} {NOT_ANSWERED}  {fault.error['hint']} " if fault.ends_query else ""
    texts = [dict(notice)["message"] for notice in shown.notices]
    if shown.error or len(texts) != fault.ends_query or not all(text.startswith(told) for text in texts):
        return f"shows {shown}"
    return fault.notes(noted)

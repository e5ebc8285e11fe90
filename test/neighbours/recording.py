"""What two sessions have recorded of the same query (tape.hpp), and what of it is a fault.

The second session has played the tape of the first: each group that both have got the answers of the first. So whatever else differs
has come from the rows, and not through a mechanism. What may differ all the same stands in ALLOWED and in the functions that are
marked as an allowance, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence, Tuple

Group = str
Numbers = Dict[int, int]
# Doubles that stand for decimals
ROUNDING = 1 + 1e-6

# By how much what a read leaves behind may differ, as a share of the larger amount and a number. What is not listed must not differ.
ALLOWED: Dict[str, Tuple[float, int]] = {
    # One row or the rows of one user more are looked up in indexes, sorted, and may lie on another page; the tables at the other side of a join are
    # read only if there is a row to join. They have some ten pages each. A first read sets hint bits, and finds room by writing other pages.
    "shared": (0.6, 100),
    "dirtied": (0, 100),
    "written": (0, 100),
    # Sorts and hashes spill whole pages when rows do not fit into work_mem.
    "temporary": (0, 64),
    # A node below a join gets its memory when the first row asks for it: up to work_mem, which is 4 MB.
    "query memory": (0, 4 << 20),
    # An index is read in one plan and not in another. Below a release the plan may depend on the number of pages; a role is not shown it.
    "index info": (0, 512),
    # The file of a table is opened for the first page that is read of it: after a lookup by an index has found a row.
    "MdSmgr": (0, 100),
    # Counts of rows and scans, which the session sends to PostgreSQL's statistics later. A table gets its counts when its first row is
    # fetched, a public one when a join looks for its first key. Restricted roles cannot read them (pg/restricted).
    "PgStat Pending": (float("inf"), 0),
    "PgStat Shared Ref": (float("inf"), 0),
    "PgStat Shared Ref Hash": (float("inf"), 0),
}

# How far two calls of a mechanism are apart, in its own guarantee. The list of the mechanisms is in boundaries.cpp.
WITH_NOISE = ("count", "sum", "Bernstein sums", "products of two values", "bins", "curve", "one statistic", "sums of users")
BY_RECORDS = ("selection", "quantiles", "range of values", "fullest bin")
# They are drawn inside of others, which are given the records.
INSIDE = ("one quantile", "joint quantiles")
# They do not say how many users they see: neighbours differ by one.
OF_ONE_USER = ("one statistic", "interval of arrays")


@dataclass
class Mechanism:
    """A call of a mechanism."""

    depth: int
    name: str
    measure: str
    told: float
    records: int
    public: Tuple[str, ...]
    inputs: Numbers
    noise: Tuple[Tuple[float, int], ...]  # the spreads of the draws, and how many have each

    @property
    def law(self) -> Tuple[object, ...]:
        return self.depth, self.name, self.measure, self.told, self.public, self.noise

    @property
    def spreads(self) -> List[float]:
        return [spread for spread, count in self.noise for _ in range(count)]


@dataclass
class Call:
    """The answer of a private aggregate for a group."""

    mechanisms: List[Mechanism] = field(default_factory=list)
    draws: List[str] = field(default_factory=list)  # outside of the mechanisms
    answer: str = ""  # made of what its mechanisms have given

    @property
    def is_selection(self) -> bool:
        return any(mechanism.name == "selection" for mechanism in self.mechanisms)


@dataclass
class Execution:
    """One execution of a release node."""

    charges: List[Tuple[str, ...]] = field(default_factory=list)
    is_charged: bool = False
    draws: List[str] = field(default_factory=list)  # outside of the groups
    calls: Dict[Tuple[Group, int], Call] = field(default_factory=dict)
    messages: List[str] = field(default_factory=list)
    left: Dict[str, str] = field(default_factory=dict)  # by what a read left behind
    failure: str = ""
    too_early: bool = False  # whether a read or a draw came before the charge


def numbers_of(text: str) -> Numbers:
    numbers: Numbers = {}
    for part in text.split():
        index, value = part.split(":")
        numbers[int(index)] = numbers.get(int(index), 0) + int(value)
    return numbers


def mechanism_of(fields: Sequence[str]) -> Mechanism:
    depth, name, measure, told, records, public, inputs, noise = fields[:8]
    spreads = tuple((float(part.split("*")[0]), int(part.split("*")[1])) for part in noise.split())
    return Mechanism(int(depth), name, measure, float(told), int(records), tuple(public.split()), numbers_of(inputs), spreads)


def executions_of(text: str) -> List[Execution]:
    """The executions of a tape, in the order in which they begin."""
    every: List[Execution] = []
    open_ones: List[Execution] = []
    call: Optional[Call] = None
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "X":
            every.append(Execution())
            open_ones.append(every[-1])
        if not open_ones:
            continue
        now = open_ones[-1]
        now.too_early |= kind in ("R", "G", "M", "D") and not now.is_charged
        if kind == "x":
            open_ones.pop()
        elif kind == "C":
            now.charges.append(tuple(fields))
        elif kind == "c":
            now.is_charged = True
        elif kind == "G":
            call = now.calls.setdefault((fields[1], int(fields[2])), Call())
        elif kind == "A":
            now.calls[fields[1], int(fields[2])].answer = fields[3]
            call = None
        elif kind == "M" and call is not None:
            call.mechanisms.append(mechanism_of(fields))
        elif kind in ("M", "D"):
            # A hidden group ends with its selection, without an answer.
            (now.draws if call is None or call.is_selection else call.draws).append(line)
        elif kind == "L":
            now.messages.append(line)
        elif kind == "W":
            now.left[fields[0]] = fields[1]
        elif kind == "F":
            now.failure = line
    return every


# ---- inputs

def distance(first: Optional[Mechanism], second: Optional[Mechanism]) -> float:
    """What the difference of the inputs costs, in the measure of the guarantee. A group that is not there has no records."""
    one = first or second
    assert one is not None
    if one.name in INSIDE:
        return 0
    inputs = [mechanism.inputs if mechanism else {} for mechanism in (first, second)]
    moved = {index: abs(inputs[0].get(index, 0) - inputs[1].get(index, 0)) for index in {*inputs[0], *inputs[1]}}
    moved = {index: by for index, by in moved.items() if by}
    if one.name in WITH_NOISE:
        spreads = one.spreads
        if any(index >= len(spreads) for index in moved):
            return float("inf")
        if one.measure == "epsilon":
            return sum(by / spreads[index] for index, by in moved.items())
        return sum(by * by / (2 * spreads[index] ** 2) for index, by in moved.items())
    records = sum(moved.values()) if one.name in BY_RECORDS else len(moved)
    return one.told * (records if one.measure == "epsilon" else records * records)


def most_distance(first: Optional[Mechanism], second: Optional[Mechanism]) -> float:
    """What its guarantee allows for as many records as it sees more, or fewer."""
    one = first or second
    assert one is not None
    records = 1 if one.name in OF_ONE_USER else abs((first.records if first else 0) - (second.records if second else 0))
    return one.told * (records if one.measure == "epsilon" else records * records)


def charged(execution: Execution, column: int, measure: str) -> float:
    """What is charged for the answers of a column, by the measure."""
    amounts = [(float(charge[4 if measure == "epsilon" else 6]), int(charge[7])) for charge in execution.charges if int(charge[0]) == column]
    return sum(amount * times for amount, times in amounts if amount >= 0)


def fault_of_inputs(first: Execution, second: Execution, apart: int) -> Optional[str]:
    """Neighbours are one row or user apart. If both have it, but otherwise, they are two apart, and do not tell by the number of records."""
    spent: Dict[Tuple[int, str], float] = {}
    for key in {*first.calls, *second.calls}:
        calls = [execution.calls.get(key, Call()).mechanisms for execution in (first, second)]
        for number in range(max(map(len, calls))):
            pair = [mechanisms[number] if mechanisms else None for mechanisms in calls]
            moved = distance(*pair)
            if apart < 2 and moved > most_distance(*pair) * ROUNDING:
                return f"inputs of mechanism {(pair[0] or pair[1]).name} are farther apart than it was told"  # type: ignore[union-attr]
            one = pair[0] or pair[1]
            if one is not None and one.depth == 0:
                spent[key[1], one.measure] = spent.get((key[1], one.measure), 0) + moved
    for (column, measure), amount in spent.items():
        if amount > charged(first, column, measure) * (apart if measure == "epsilon" else apart * apart) * ROUNDING:
            return f"inputs of mechanisms differ by more {measure} than is charged"
    return None


# ---- the rest

def fault_of_groups(first: Execution, second: Execution) -> Optional[str]:
    for key in {*first.calls, *second.calls}:
        calls = [execution.calls.get(key) for execution in (first, second)]
        if calls[0] is None or calls[1] is None:
            # An allowance: a group may be of one row or user. Its selection decides whether it is seen.
            if not any(call.is_selection for (group, _), call in {**first.calls, **second.calls}.items() if group == key[0]):
                return "a group without a selection is in one of them only"
        elif [mechanism.law for mechanism in calls[0].mechanisms] != [mechanism.law for mechanism in calls[1].mechanisms]:
            return "the mechanisms of a group, or what they are told"
        elif calls[0].draws != calls[1].draws:
            return "draws of a group outside of mechanisms"
        elif calls[0].answer != calls[1].answer:
            return "an answer that is not made of what the mechanisms gave"
    return None


def amounts_of(text: str) -> Dict[str, int]:
    parts = [part.rsplit("=", 1) for part in text.split(",") if part]
    return {name: int(amount) for name, amount in parts}


def fault_of_left(first: Execution, second: Execution) -> Optional[str]:
    """What a read leaves behind in its session."""
    for kind in {*first.left, *second.left}:
        one, other = (amounts_of(execution.left.get(kind, "")) for execution in (first, second))
        for name in {*one, *other}:
            amounts = (one.get(name, 0), other.get(name, 0))
            share, number = ALLOWED.get("query memory" if kind == "query" else name.split("/")[0], (0, 0))
            if abs(amounts[0] - amounts[1]) > share * max(amounts) + number:
                return f"{kind} after a read, {name}: {amounts[0]} and {amounts[1]}"
    return None


def fault(first: List[Execution], second: List[Execution], alike: bool, apart: int) -> Optional[str]:
    """What differs other than through a mechanism, in a few words, or None. What a read leaves behind is compared if the tables are alike,
    because planning looks up what their statistics need."""
    if len(first) != len(second):
        return "number of releases"
    for one, other in zip(first, second):
        if one.too_early or other.too_early:
            return "a read or a draw before the charge"
        if (one.charges, one.is_charged) != (other.charges, other.is_charged):
            return "charges of a release"
        if one.draws != other.draws:
            return "draws outside of groups"
        if one.failure != other.failure:
            return "failures of a read"
        found = fault_of_groups(one, other) or fault_of_inputs(one, other, apart)
        if found is not None:
            return found
        if one.messages != other.messages:
            return "messages of a read"
        found = fault_of_left(one, other) if alike else None
        if found is not None:
            return found
    return None

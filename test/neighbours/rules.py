"""The rules for expressions: result type, text with # for each argument, types of the arguments. What rows may call has rules from the library's
table of functions (inside_functions.py).

Not all of the others are accepted inside a release block; expressions.py finds out which are. The rest are near misses, which
must be refused whatever the data are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, Sequence, Tuple

from inside_functions import CALLS, public_choices
from rows import Row

ORDERED_TYPES = ("int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", "date", "timestamp", "timestamptz",
                 "interval", "time", "uuid", "mood", "bool")
ALL_TYPES = ORDERED_TYPES + ("percent", "text[]", "bytea", "jsonb")
# Values of the types that no column has
OTHER_VALUES = {
    "anyenum": ("low", "high"), "bit": ("0", "1"), "bpchar": ("a", "Sal "), "char": ("a", ""), "cid": ("0", "7"), "inet": ("127.0.0.1", "::1/64"),
    "lseg": ("[(0,0),(1,1)]", "[(NaN,0),(1e300,0)]"), "macaddr": ("00:00:00:00:00:01", "ff:ff:ff:ff:ff:ff"),
    "macaddr8": ("00:00:00:00:00:00:00:01", "ff:ff:ff:ff:ff:ff:ff:ff"), "money": ("1", "-92233720368547758.08"), "name": ("Sales", ""),
    "oid": ("0", "4294967295"), "pg_lsn": ("0/1", "FFFFFFFF/FFFFFFFF"), "tid": ("(0,1)", "(4294967295,65535)"), "timetz": ("12:30+01", "24:00-15:59"),
    "varbit": ("", "1011"), "xid": ("0", "7"), "xid8": ("0", "18446744073709551615"),
}


@dataclass(frozen=True)
class Rule:
    result: str
    text: str
    arguments: Tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.text} of {', '.join(self.arguments)}" if self.arguments else self.text


# Any type T; all arguments T have the same one.
GENERIC = """
bool: # = # : T T
bool: # <> # : T T
bool: # < # : T T
bool: # >= # : T T
bool: # BETWEEN # AND # : T T T
bool: # IN (#, #) : T T T
bool: # NOT IN (#, #) : T T T
bool: # = ANY (ARRAY[#, #]) : T T T
bool: # IS NULL : T
bool: # IS NOT NULL : T
bool: # IS DISTINCT FROM # : T T
bool: (#, #) < (#, #) : T int4 T int4
T: CASE WHEN # THEN # ELSE # END : bool T T
T: CASE # WHEN # THEN # END : T T T
T: coalesce(#, #) : T T
T: nullif(#, #) : T T
T: greatest(#, #) : T T
T: least(#, #) : T T
"""

# Shapes that no single function is, constants of interest, and what is not in the table
OTHERS = """
bool: # AND # : bool bool
bool: # OR # : bool bool
bool: NOT # : bool
bool: # IS TRUE : bool
bool: # IS NOT FALSE : bool
bool: # = # : varchar text
int4: sign(#)::int4 : float8
int4: div(#, #)::int4 : numeric numeric
int4: width_bucket(#, 0, 100, 10) : float8
numeric: factorial(#) : int8
numeric: trunc(#, 2) : numeric
numeric: scale(#)::numeric : numeric
float8: # ^ 2 : float8
float8: exp(ln(#)) : float8
int4: CAST(# AS int4) : varchar
numeric: #::numeric(8,2) : numeric
text: #::text : varchar
text: #::text : bytea
text: #::text : text[]
varchar: #::varchar : text
varchar: #::varchar(3) : text
text: #::char(3)::text : text
timestamptz: #::timestamptz : text
interval: #::interval : text
mood: #::mood : text
jsonb: #::jsonb : text
int4: #::int4 : percent
percent: #::percent : int4
text: # || # : text int4
text: substring(# FROM 1 FOR 2) : text
text: substring(# FROM '[a-z]+') : text
text: right(#, 2) : text
text: lpad(#, #, '*') : text int4
text: overlay(# placing 'x' FROM #) : text int4
text: split_part(#, ' ', #) : text int4
text: translate(#, 'abc', #) : text text
text: quote_literal(#) : text
text: concat(#, #) : text int4
text: concat_ws('-', #, #) : text date
text: format('%s', #) : text
text: format(#, 1) : text
text: regexp_replace(#, 'a+', #) : text text
text: encode(#, 'hex') : bytea
text: convert_from(#, 'UTF8') : bytea
text: to_char(#, 'YYYY-MM') : date
text: to_char(#, 'YYYY-MM') : timestamptz
text: to_char(#, '999.99') : numeric
text: to_char(#, #) : timestamp text
text: (#)[1] : text[]
text: (#)[#] : text[] int4
text: array_to_string(#, ',') : text[]
text: # ->> 'a' : jsonb
text: # #>> # : jsonb text[]
text: #::text : jsonb
text: jsonb_typeof(#) : jsonb
jsonb: # -> 'a' : jsonb
jsonb: # -> # : jsonb int4
int4: length(#) : varchar
int4: position(# IN #) : text text
int4: strpos(#, 'a') : text
int4: get_byte(#, #) : bytea int4
int4: cardinality(#) : text[]
int4: array_length(#, 1) : text[]
int4: array_length(#, #) : text[] int4
int4: (# ->> 'a')::int4 : jsonb
int4: (# -> 'a')::int4 : jsonb
int4: hashtext(#) : text
int4: hashint4(#) : int4
int4: num_nulls(#, #) : text int4
bool: # LIKE 'A%' : text
bool: # LIKE '%e_' : text
bool: # LIKE 'Sa\\' : text
bool: # LIKE # : text text
bool: # NOT LIKE '%x%' : text
bool: # ILIKE 's%' : text
bool: # ILIKE # : text text
bool: # LIKE 'a%' : varchar
bool: # SIMILAR TO '(a|b)%' : text
bool: # ~ '^S' : text
bool: # ~ # : text text
bool: # ~* 'e(' : text
bool: # = ANY (#) : text text[]
bool: # && # : text[] text[]
bool: # @> ARRAY['x'] : text[]
bool: # ? 'a' : jsonb
bool: # @> '{"a": 1}' : jsonb
bool: # <@ # : jsonb jsonb
bool: # ?| # : jsonb text[]
bool: # = # COLLATE "C" : text text
bool: # < # COLLATE "POSIX" : text text
bool: # = ANY ('{1,2,3}') : int4
bool: # <> ALL (ARRAY[1, #]) : int4 int4
bool: (#, #) OVERLAPS (#, #) : date date date date
interval: make_interval(days => #) : int4
date: make_date(#, 1, 1) : int4
date: make_date(2024, #, #) : int4 int4
date: to_date(#, 'YYYY-MM-DD') : text
numeric: to_number(#, '999') : text
numeric: extract(year FROM #) : date
numeric: extract(epoch FROM #) : timestamptz
numeric: extract(epoch FROM #) : interval
numeric: extract(month FROM #) : timestamp
int4: extract(dow FROM #)::int4 : date
float8: date_part('day', #) : timestamp
float8: date_part(#, #) : text timestamp
timestamp: date_trunc('month', #) : timestamp
timestamptz: date_trunc('month', #) : timestamptz
timestamptz: date_trunc(#, #) : text timestamptz
timestamp: date_trunc('year', #)::timestamp : date
timestamp: date_bin('15 minutes', #, '2024-01-01') : timestamp
timestamp: date_bin(#, #, '2024-01-01') : interval timestamp
timestamp: # AT TIME ZONE 'UTC' : timestamptz
timestamp: # AT TIME ZONE 'Europe/Paris' : timestamptz
timestamptz: # AT TIME ZONE # : timestamp text
bool: # > now() - interval '1 year' : timestamptz
bool: # > current_date - 400 : date
bool: # < localtimestamp : timestamp
"""

# Side effects, exact facts, and functions of the analyst's own: never inside a release block.
FORBIDDEN = """
bool: random() < # : float8
bool: set_config('fuzz.seen', #, false) IS NOT NULL : text
bool: nextval('own.counter') + # > 0 : int4
bool: pg_notify('fuzz', #) IS NOT NULL : text
bool: pg_try_advisory_lock(#) : int4
int4: own.spy(#) : int4
bool: # OPERATOR(own.===) # : int4 int4
bool: NOT (# OPERATOR(own.<<<>) #) : int4 int4
bool: 7 OPERATOR(own.=<<) # : int4
text: own.show(#) : text
text: #::own.shown::text : text
bool: current_setting(#, true) IS NULL : text
bool: pg_sleep(#) IS NULL : float8
bool: ctid < '(2,0)' AND # IS NOT NULL : int4
bool: xmin::text::int8 % 2 = 0 AND # IS NOT NULL : text
bool: tableoid::int8 > # : int8
int4: (SELECT count(*)::int4 FROM city WHERE city.id = #) : int4
bool: # IN (SELECT id FROM city) : int4
bool: EXISTS (SELECT FROM city WHERE city.name = #) : text
text: query_to_xml(#, true, true, '')::text : text
bool: # = ANY (ARRAY(SELECT generate_series(1, #))) : int4 int4
int4: generate_series(1, #) : int4
bool: row(#, #) IS NULL : int4 text
bool: statement_timestamp() > # : timestamptz
bool: clock_timestamp() > # : timestamptz
bool: has_table_privilege(#, 'SELECT') : text
bool: pg_column_size(#) > 10 : text
bool: pg_typeof(#) = 'text'::regtype : text
bool: #::regclass IS NULL : text
bool: #::regtype::oid > 0 : text
bool: to_regclass(#) IS NULL : text
"""


def parsed(table: str) -> Iterator[Rule]:
    for line in table.strip().splitlines():
        result, rest = line.split(": ", 1)
        text, _, arguments = rest.rpartition(" :")
        yield Rule(result, f"({text})", tuple(arguments.split()))


def for_type(rule: Rule, variable: str, name: str) -> Rule:
    """The rule with this type in place of the variable."""
    return Rule(name if rule.result == variable else rule.result, rule.text,
                tuple(name if argument == variable else argument for argument in rule.arguments))


def argument_of(kind: str) -> Tuple[str, Tuple[str, ...]]:
    """What stands for an argument of a type, and the types in it: if no column has it, one of two values."""
    if kind in ALL_TYPES:
        return "#", (kind,)
    first, second = OTHER_VALUES[kind]
    name = "mood" if kind == "anyenum" else f'pg_catalog."{kind}"'
    return f"CASE WHEN # THEN '{first}'::{name} ELSE '{second}'::{name} END", ("bool",)


def rule_of_call(call: str, result: str, kinds: Sequence[str], public: Dict[int, str]) -> Rule:
    arguments = [(f"'{public[i]}'", ()) if i in public else argument_of(kind) for i, kind in enumerate(kinds)]
    texts = call.split("#")
    text = texts[0] + "".join(argument[0] + rest for argument, rest in zip(arguments, texts[1:]))
    kind = "mood" if result == "anyenum" else result
    is_other = kind not in ALL_TYPES
    return Rule("bool" if is_other else kind, f"({text} IS NOT NULL)" if is_other else f"({text})", tuple(kind for argument in arguments for kind in argument[1]))


def rules_of_table(ask: Callable[[str], Sequence[Row]]) -> Dict[str, List[Rule]]:
    """For each function that rows may call, the rules of which the first that is accepted counts."""
    found: Dict[str, List[Rule]] = {}
    for name, call, result, arguments in ask(CALLS):
        kinds = str(arguments).split()
        choices = public_choices([i for i, kind in enumerate(kinds) if kind == "text"])
        rules = [rule_of_call(str(call), str(result), kinds, public) for public in choices if len(public) < len(kinds)]
        found[str(name)] = rules
    return found


def all_rules() -> List[Rule]:
    return [for_type(rule, "T", name) for rule in parsed(GENERIC) for name in ORDERED_TYPES] + list(parsed(OTHERS))


def forbidden_rules() -> List[Rule]:
    return list(parsed(FORBIDDEN))

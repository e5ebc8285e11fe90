"""The rules for expressions: result type, text with # for each argument, types of the arguments.

Not all of them are accepted inside a release block; expressions.py finds out which are. The rest are near misses, which
must be refused whatever the data are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, List, Tuple

ORDERED_TYPES = ("int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", "date", "timestamp", "timestamptz",
                 "interval", "time", "uuid", "mood", "bool")
ALL_TYPES = ORDERED_TYPES + ("percent", "text[]", "bytea", "jsonb")


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

# Any type of N; arguments N have the same one.
NUMBERS = """
N: # + # : N N
N: # - # : N N
N: # * # : N N
N: # / # : N N
N: - # : N
N: abs(#) : N
"""

OTHERS = """
bool: # AND # : bool bool
bool: # OR # : bool bool
bool: NOT # : bool
bool: # IS TRUE : bool
bool: # IS NOT FALSE : bool
int4: # % # : int4 int4
int8: # % # : int8 int8
numeric: # % # : numeric numeric
int4: # + # : int2 int4
int8: # * # : int4 int8
float8: # + # : float4 float8
bool: # < # : int4 int8
bool: # = # : int8 int4
bool: # < # : float4 float8
bool: # < # : date timestamptz
bool: # >= # : date timestamp
bool: # < # : timestamp timestamptz
bool: # = # : varchar text
int4: # & # : int4 int4
int4: # | # : int4 int4
int4: ~ # : int4
int4: # << # : int4 int4
int8: # >> # : int8 int4
int4: mod(#, #) : int4 int4
int4: sign(#)::int4 : float8
int4: gcd(#, #) : int4 int4
int4: lcm(#, #) : int4 int4
int4: div(#, #)::int4 : numeric numeric
int4: width_bucket(#, #, #, #) : float8 float8 float8 int4
int4: width_bucket(#, 0, 100, 10) : float8
numeric: factorial(#) : int8
numeric: round(#) : numeric
numeric: round(#, #) : numeric int4
numeric: trunc(#, 2) : numeric
numeric: ceil(#) : numeric
numeric: floor(#) : numeric
numeric: sqrt(#) : numeric
numeric: ln(#) : numeric
numeric: power(#, #) : numeric numeric
numeric: scale(#)::numeric : numeric
float8: round(#) : float8
float8: ceil(#) : float8
float8: floor(#) : float8
float8: sqrt(#) : float8
float8: cbrt(#) : float8
float8: exp(#) : float8
float8: ln(#) : float8
float8: log(#) : float8
float8: power(#, #) : float8 float8
float8: # ^ 2 : float8
float8: sin(#) : float8
float8: asin(#) : float8
float8: degrees(#) : float8
float8: exp(ln(#)) : float8
int2: #::int2 : int4
int4: #::int4 : int2
int4: #::int4 : int8
int4: #::int4 : numeric
int4: #::int4 : float8
int4: #::int4 : bool
int4: #::int4 : text
int4: CAST(# AS int4) : varchar
int8: #::int8 : int4
int8: #::int8 : float8
int8: #::int8 : numeric
numeric: #::numeric : int4
numeric: #::numeric : int8
numeric: #::numeric : float8
numeric: #::numeric : text
numeric: #::numeric(8,2) : numeric
float4: #::float4 : float8
float8: #::float8 : int4
float8: #::float8 : int8
float8: #::float8 : numeric
float8: #::float8 : float4
float8: #::float8 : text
bool: #::bool : int4
bool: #::bool : text
text: #::text : int4
text: #::text : int8
text: #::text : numeric
text: #::text : float8
text: #::text : date
text: #::text : timestamptz
text: #::text : interval
text: #::text : bool
text: #::text : uuid
text: #::text : mood
text: #::text : varchar
text: #::text : bytea
text: #::text : text[]
varchar: #::varchar : text
varchar: #::varchar(3) : text
text: #::char(3)::text : text
date: #::date : timestamp
date: #::date : timestamptz
date: #::date : text
timestamp: #::timestamp : date
timestamp: #::timestamp : timestamptz
timestamptz: #::timestamptz : date
timestamptz: #::timestamptz : timestamp
timestamptz: #::timestamptz : text
time: #::time : timestamp
time: #::time : timestamptz
interval: #::interval : text
interval: #::interval : time
uuid: #::uuid : text
mood: #::mood : text
jsonb: #::jsonb : text
int4: #::int4 : percent
percent: #::percent : int4
text: lower(#) : text
text: upper(#) : text
text: initcap(#) : text
text: # || # : text text
text: # || # : text int4
text: substr(#, #, #) : text int4 int4
text: substring(# FROM 1 FOR 2) : text
text: substring(# FROM '[a-z]+') : text
text: left(#, #) : text int4
text: right(#, 2) : text
text: repeat(#, #) : text int4
text: replace(#, #, #) : text text text
text: btrim(#) : text
text: ltrim(#, #) : text text
text: lpad(#, #, '*') : text int4
text: overlay(# placing 'x' FROM #) : text int4
text: split_part(#, ' ', #) : text int4
text: translate(#, 'abc', #) : text text
text: reverse(#) : text
text: md5(#) : text
text: chr(#) : int4
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
text: to_hex(#) : int4
text: (#)[1] : text[]
text: (#)[#] : text[] int4
text: array_to_string(#, ',') : text[]
text: # ->> 'a' : jsonb
text: jsonb_typeof(#) : jsonb
int4: length(#) : text
int4: length(#) : varchar
int4: octet_length(#) : text
int4: ascii(#) : text
int4: position(# IN #) : text text
int4: strpos(#, 'a') : text
int4: length(#) : bytea
int4: get_byte(#, #) : bytea int4
int4: cardinality(#) : text[]
int4: array_length(#, 1) : text[]
int4: array_length(#, #) : text[] int4
int4: (# ->> 'a')::int4 : jsonb
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
bool: starts_with(#, #) : text text
bool: # = ANY (#) : text text[]
bool: # && # : text[] text[]
bool: # @> ARRAY['x'] : text[]
bool: # ? 'a' : jsonb
bool: # @> '{"a": 1}' : jsonb
bool: # = # : bytea bytea
bool: # = # COLLATE "C" : text text
bool: # < # COLLATE "POSIX" : text text
bool: # = ANY ('{1,2,3}') : int4
bool: # <> ALL (ARRAY[1, #]) : int4 int4
bool: isfinite(#) : date
bool: isfinite(#) : timestamptz
bool: (#, #) OVERLAPS (#, #) : date date date date
date: # + # : date int4
date: # - # : date int4
int4: # - # : date date
timestamp: # + # : date interval
timestamp: # - # : timestamp interval
timestamptz: # + # : timestamptz interval
interval: # - # : timestamptz timestamptz
interval: # - # : timestamp timestamp
interval: age(#, #) : timestamp timestamp
interval: age(#) : timestamptz
interval: # * # : interval float8
interval: # / # : interval float8
interval: # + # : interval interval
interval: justify_days(#) : interval
interval: make_interval(days => #) : int4
date: make_date(#, 1, 1) : int4
date: make_date(2024, #, #) : int4 int4
timestamptz: to_timestamp(#) : float8
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
time: # + # : time interval
interval: # - # : time time
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


def all_rules() -> List[Rule]:
    rules = [for_type(rule, "T", name) for rule in parsed(GENERIC) for name in ORDERED_TYPES]
    rules += [for_type(rule, "N", name) for rule in parsed(NUMBERS)
              for name in ("int2", "int4", "int8", "numeric", "float4", "float8")]
    return rules + list(parsed(OTHERS))


def forbidden_rules() -> List[Rule]:
    return list(parsed(FORBIDDEN))

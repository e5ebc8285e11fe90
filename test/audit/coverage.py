"""What the catalogue lacks: private aggregates of the extension, their methods, and types of their values, that no case calls."""

import re

import psycopg

from private_aggregates import VALUE_TYPES

# Aggregates whose answers are noisy, by the support function by which the planner knows them: names and types of arguments.
PRIVATE = """SELECT a.aggfnoid::oid, p.proname, p.proargtypes::regtype[]::text[] FROM pg_aggregate AS a JOIN pg_proc AS p ON p.oid = a.aggfnoid
    JOIN pg_proc AS f ON f.oid = a.aggfinalfn WHERE f.prosupport = 'dpquantile.planner_support'::regproc"""
# What a view calls.
CALLED = """SELECT DISTINCT d.refobjid FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_proc'::regclass AND r.ev_class = 'asked'::regclass"""
OPTIONS = re.compile(r"dp_options\([^()]*\)")
METHOD = re.compile(r"method => '([a-z-]+)'")
# Arguments that have a type in common may be of any of these. The answer of such an aggregate has it, too.
COMMON = ("anycompatible", "anycompatiblearray")
ANSWERED = """SELECT coalesce(nullif(t.typelem, 0), t.oid)::regtype::text FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = 'asked'::regclass AND a.attnum > 0"""


def called(owner, case):
    """The functions of a case, by oid, and the types of its answers."""
    with owner.transaction(force_rollback=True):
        owner.execute(f"CREATE VIEW asked AS {case.one_execution()}", prepare=False)
        functions = {row[0] for row in owner.execute(CALLED, prepare=False)}
        return functions, {row[0] for row in owner.execute(ANSWERED, prepare=False)}


def methods(owner, case):
    """The methods that an aggregate names when it is asked for one that it does not have."""
    try:
        owner.execute(OPTIONS.sub("""jsonb '{"method": "none"}'""", case.one_execution()), prepare=False)
    except psycopg.Error as error:
        hint = error.diag.message_hint or ""
        if hint.startswith("Valid methods: "):
            return re.findall("[a-z-]+", hint.removeprefix("Valid methods: "))
    return []


def missing(owner, cases):
    private = {oid: (name, frozenset(types)) for oid, name, types in owner.execute(PRIVATE, prepare=False)}
    values = {row[0] for kind in VALUE_TYPES.values() if kind.kind != "other" for row in owner.execute("SELECT %s::regtype::text", (kind.name,), prepare=False)}
    names, types = {name for name, _ in private.values()}, values.union(*(types for _, types in private.values()))
    wanted_methods, asked_methods = set(), set()
    for case in cases:
        if case.protected:
            continue
        functions, answers = called(owner, case)
        for name, its_types in [private[oid] for oid in functions if oid in private]:
            names = names - {name}
            types = types - its_types
            if its_types.intersection(COMMON):
                types = types - answers
            asked_methods |= {f"{name}, method {method}" for method in METHOD.findall(case.answer)}
            if OPTIONS.search(case.answer):
                wanted_methods |= {f"{name}, method {method}" for method in methods(owner, case)}
    return sorted(names) + sorted(wanted_methods - asked_methods) + [f"values of type {kind}" for kind in sorted(types)]

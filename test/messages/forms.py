"""The ways in which a query is sent, and faults that are not in one function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

COUNT = "SELECT dp_count(1) IS NOT NULL FROM person WHERE c23 = 0"
TRIGGER = 65  # int4eq
VALUES = "0:23:0"

CATCHER = """DO $$
DECLARE d text; h text; c text; s text; t text; k text; y text; n text;
BEGIN
  PERFORM dp_count(1) FROM person WHERE c23 = 0;
EXCEPTION WHEN OTHERS OR query_canceled THEN
  GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT, c = PG_EXCEPTION_CONTEXT, s = SCHEMA_NAME, t = TABLE_NAME, k = COLUMN_NAME,
    y = PG_DATATYPE_NAME, n = CONSTRAINT_NAME;
  RAISE NOTICE '% % % % % % % % % %', SQLSTATE, SQLERRM, d, h, c, s, t, k, y, n;
END $$"""

FUNCTION = """CREATE FUNCTION pg_temp.f() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT dp_count(1) IS NOT NULL FROM person WHERE c23 = 0);
END $$"""


@dataclass(frozen=True)
class Form:
    """The last statement asks. Those before it prepare."""

    name: str
    statements: Tuple[str, ...]
    catches: bool = False


FORMS = (
    Form("a query", (COUNT,)),
    Form("a generic plan", ("SET plan_cache_mode = force_generic_plan", "PREPARE p (int) AS SELECT dp_count(1) IS NOT NULL FROM person WHERE c23 = $1",
                            "EXECUTE p (0)")),
    Form("a cursor", ("BEGIN", f"DECLARE c CURSOR FOR {COUNT}", "FETCH c")),
    Form("a cursor that is held", ("BEGIN", f"DECLARE c CURSOR WITH HOLD FOR {COUNT}", "COMMIT")),
    Form("a savepoint", ("BEGIN", "SAVEPOINT s", COUNT)),
    Form("a table", (f"CREATE TEMP TABLE made AS {COUNT}",)),
    Form("an exception block", (CATCHER,), catches=True),
    Form("a function", (FUNCTION, "SELECT pg_temp.f()")),
    Form("a sub-select", ("SELECT (SELECT dp_count(1) FROM person WHERE c23 = i.i) IS NOT NULL FROM generate_series(0, 0) i",)),
    Form("all messages", ("SET client_min_messages = debug5", COUNT)),
    Form("COPY", (f"COPY ({COUNT}) TO STDOUT",)),
    Form("rows of persons", ("SELECT dp_count(1) IS NOT NULL FROM stay WHERE c23 = 0",)),
    Form("persons", ("SELECT dp_count_distinct(patient, 1) IS NOT NULL FROM stay WHERE c23 = 0",)),
    Form("a mean of persons", ("SELECT dp_user_mean(patient, c701, 1, 0, 9, dp_options('bounded', max_contributions => 1)) IS NOT NULL FROM stay WHERE c23 = 0",)),
    Form("groups that are charged one by one", ("SELECT k, dp_user_mean(patient, c701, 1, 0, 9, dp_options('bounded', max_contributions => 1)) IS NOT NULL"
                                                " FROM (VALUES (0), (1)) l (k) LEFT JOIN stay ON c23 = k GROUP BY k",)),
    # The rows of a restricted role are read by its own session: the fault happens there.
    Form("parallel workers", ("SET max_parallel_workers_per_gather = 2", "SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0",
                              "SET min_parallel_table_scan_size = 0", "SET parallel_leader_participation = off", COUNT)),
)

# Goes to disk
SORT = ("SELECT note FROM visit WHERE id <> 0 GROUP BY 1 HAVING dp_keep_group(patient, 1, 1e-12, 1)", 144, "0:23:7")

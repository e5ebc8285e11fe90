"""What a restricted role may ask the server about itself and the tables, to be compared on neighbours."""

from __future__ import annotations

from typing import List, Sequence, Set

from outcome import Row

# Functions without arguments, or with one relation. What tells times, processes and transactions differs without any leak.
FUNCTIONS_QUERY = """
SELECT p.proname, p.pronargs FROM pg_proc p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
   AND p.prorettype <> ALL ('{trigger,event_trigger,internal}'::regtype[])
   AND p.provolatile <> 'i' AND (p.pronargs = 0 OR (p.pronargs = 1 AND p.proargtypes[0] IN ('oid'::regtype, 'regclass'::regtype)))
 ORDER BY p.proname, p.pronargs"""
DIFFER_ALWAYS: Set[str] = set("""
clock_timestamp statement_timestamp transaction_timestamp now timeofday random gen_random_uuid uuidv7 uuidv4 pg_backend_pid
pg_current_xact_id pg_current_xact_id_if_assigned txid_current txid_current_if_assigned pg_current_snapshot txid_current_snapshot
pg_postmaster_start_time pg_conf_load_time current_database current_catalog inet_client_port pg_stat_get_activity pg_stat_get_snapshot_timestamp
pg_stat_get_backend_idset pg_lock_status pg_my_temp_schema pg_export_snapshot pg_snapshot_xmin pg_relation_filepath
""".split())

# Rows of pg_class lie in another order where the fuzzer has written false statistics (databases.py). What PostgreSQL writes there does not move them.
STATE = [
    "SELECT current_setting('fuzz.seen', true), (SELECT last_value FROM own.counter)",
    "SELECT name, is_holdable, is_scrollable FROM pg_cursors",
    "SELECT state, wait_event_type, query_id, backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid()",
    "SELECT relname, reltuples, relpages FROM pg_class WHERE relname IN ('staff', 'visits', 'events_old', 'hidden') ORDER BY relname",
    "SELECT * FROM pg_stats WHERE tablename IN ('staff', 'visits', 'events_old', 'hidden')",
    "SELECT * FROM pg_stat_user_tables ORDER BY relid",
    "SELECT locktype, relation, mode FROM pg_locks",
    "SELECT pg_relation_size('staff')",
    "SELECT count(*) FROM pg_backend_memory_contexts",
    "SELECT lastval()",
    "SELECT pg_advisory_unlock_all()",
]
# The view looks at the rights and the definition of each table, which takes as long as some hundred queries, and with other plans longer than the timeout.
PROTECTED_TABLES = "SELECT * FROM dp_protected_tables"


def calls_of_functions(functions: Sequence[Row]) -> List[str]:
    """A call for each function, with a protected table as the argument."""
    return [f"SELECT pg_catalog.{name}({relation})::text" for name, arguments in functions if name not in DIFFER_ALWAYS
            for relation in (["'staff'::regclass", "'events_old'::regclass"] if arguments == "1" else [""])]

#include "pg/restricted/denied_functions.hpp"

#include <string_view>

#include "pg/restricted/restricted_session.hpp"
#include "pg/server/own_objects.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

struct Denied {
  const char* name;  // a last character * stands for any text
  const char* tells;
};

constexpr char kCounters[] =
    "what statements have scanned, and which role does what at this moment";
constexpr char kSizes[] = "sizes of tables";
constexpr char kLocks[] = "locks, also those of rows that were read";
constexpr char kWal[] = "positions in the write-ahead log, which changes of data advance";
constexpr char kCommits[] = "when each transaction has committed, those of others too";
constexpr char kMemory[] = "memory and I/O of queries";
constexpr char kFiles[] = "the server's files";
constexpr char kProcesses[] = "which role a process belongs to";
constexpr char kPages[] = "pages and rows of a table";
constexpr char kRewrites[] = "when a table was rewritten";
constexpr char kObjects[] = "which large objects there are, to which rows may refer";
constexpr char kLargeObjects[] = "whether there is a large object, to which rows may refer";
constexpr char kNotifications[] = "how much all sessions have notified";
constexpr char kApplicationLocks[] = "what an application locks at this moment";

// Functions in pg_catalog. Each name exists in PostgreSQL 15 to 19, or in some of them.
// test/t/restricted_functions.pl compares the list with test/restricted_functions.txt.
constexpr Denied kFunctions[] = {
    // pg_stat_activity is among them: a second session sees how many parallel workers a query has,
    // and so the size of its table.
    {"pg_stat_get_*", kCounters},
    {"pg_stat_have_stats", kCounters},

    {"pg_relation_size", kSizes},
    {"pg_table_size", kSizes},
    {"pg_indexes_size", kSizes},
    {"pg_total_relation_size", kSizes},
    {"pg_database_size", kSizes},
    {"pg_tablespace_size", kSizes},

    // A table gets another file by TRUNCATE, VACUUM FULL and the like.
    {"pg_relation_filenode", kRewrites},
    {"pg_relation_filepath", kRewrites},
    {"pg_filenode_relation", kRewrites},

    {"pg_lock_status", kLocks},
    {"pg_blocking_pids", kLocks},
    {"pg_safe_snapshot_blocking_pids", kLocks},
    {"pg_isolation_test_session_is_blocked", kLocks},
    {"pg_get_multixact_members", kLocks},
    {"pg_get_multixact_stats", kLocks},
    {"mxid_age", kLocks},

    // An application may lock the key of a row while it works on it. Clients give their own locks
    // up by pg_advisory_unlock_all() where they reset a session.
    {"pg_advisory_lock*", kApplicationLocks},
    {"pg_advisory_xact_lock*", kApplicationLocks},
    {"pg_try_advisory_*", kApplicationLocks},

    // A trigger may notify of each row. Steps of the usage, and notifications of one's own, count
    // those of others.
    {"pg_notification_queue_usage", kNotifications},

    // A row may refer to a large object, and each has its number of one counter.
    {"lo_*", kLargeObjects},
    {"loread", kLargeObjects},
    {"lowrite", kLargeObjects},
    {"pg_describe_object", kObjects},
    {"pg_identify_object*", kObjects},
    {"pg_get_object_address", kObjects},
    {"pg_get_acl", kObjects},
    {"has_largeobject_privilege", kObjects},

    {"pg_current_wal_*", kWal},
    {"pg_last_wal_*", kWal},
    {"pg_last_xact_replay_timestamp", kWal},
    {"pg_switch_wal", kWal},
    {"pg_create_restore_point", kWal},
    {"pg_backup_start", kWal},
    {"pg_backup_stop", kWal},
    {"pg_log_standby_snapshot", kWal},
    {"pg_logical_emit_message", kWal},
    {"pg_logical_slot_*", kWal},
    {"pg_create_logical_replication_slot", kWal},
    {"pg_create_physical_replication_slot", kWal},
    {"pg_copy_logical_replication_slot", kWal},
    {"pg_copy_physical_replication_slot", kWal},
    {"pg_replication_slot_advance", kWal},
    {"pg_get_replication_slots", kWal},
    {"pg_show_replication_origin_status", kWal},
    {"pg_replication_origin_progress", kWal},
    {"pg_replication_origin_session_progress", kWal},
    {"pg_control_checkpoint", kWal},
    {"pg_control_recovery", kWal},
    {"pg_available_wal_summaries", kWal},
    {"pg_wal_summary_contents", kWal},
    {"pg_get_wal_summarizer_state", kWal},
    // Since PostgreSQL 19 it has the position at which the sequence was written last, which is the
    // present one for who has just taken values of a sequence of his own.
    {"pg_get_sequence_data", kWal},

    // Where each row is written in a transaction of its own, these are the times of all rows.
    {"pg_xact_commit_timestamp*", kCommits},
    {"pg_last_committed_xact", kCommits},
    {"pg_xact_status", kCommits},
    {"txid_status", kCommits},
    {"pg_prepared_xact", kCommits},

    {"pg_get_backend_memory_contexts", kMemory},
    {"pg_log_backend_memory_contexts", kMemory},
    {"pg_get_shmem_allocations*", kMemory},
    {"pg_get_dsm_registry_allocations", kMemory},
    {"pg_get_aios", kMemory},

    {"pg_ls_*", kFiles},
    {"pg_stat_file", kFiles},
    {"pg_read_file*", kFiles},
    {"pg_read_binary_file", kFiles},

    // The error tells whether there is such a process, and whether it is one's own, a superuser's
    // or another one's. A client cancels its own query by the protocol.
    {"pg_cancel_backend", kProcesses},
    {"pg_terminate_backend", kProcesses},
    {"pg_stat_reset_backend_stats", kProcesses},

    // The chain of a row's versions ends where a reader has pruned its page.
    {"currtid2", kPages},
    {"brin_summarize_new_values", kPages},
    {"brin_summarize_range", kPages},
    {"gin_clean_pending_list", kPages},
};

// All functions of these extensions.
constexpr Denied kExtensions[] = {
    {"pg_stat_statements", kCounters},
    {"pg_stat_kcache", kCounters},
    {"pg_stat_monitor", kCounters},
    {"pg_qualstats", kCounters},
    {"pg_store_plans", kCounters},
    {"pg_show_plans", kCounters},
    {"pg_query_state", kCounters},
    {"pg_wait_sampling", kCounters},
    {"pg_stash_advice", kCounters},
    {"pg_track_settings", kCounters},
    {"plprofiler", kCounters},
    {"powa", kCounters},
    {"system_stats", kCounters},
    {"pg_proctab", kCounters},
    {"pg_buffercache", kMemory},
    {"pg_prewarm", kPages},
    {"pgfincore", kPages},
    {"pageinspect", kPages},
    {"pgstattuple", kPages},
    {"pg_visibility", kPages},
    {"pg_freespacemap", kPages},
    {"pg_surgery", kPages},
    {"amcheck", kPages},
    {"pgrowlocks", kLocks},
    {"pg_walinspect", kWal},
    {"pg_logicalinspect", kWal},
    {"adminpack", kFiles},
    {"lo", kLargeObjects},  // its trigger function lo_manage removes one
};

// A role that is restricted in one database is in all, also in one with Citus. Other functions of
// Citus, such as citus_table_is_visible, are in queries that it rewrites.
constexpr Denied kFunctionsOfCitus[] = {
    {"worker_save_query_explain_analyze", kCounters},
    {"worker_last_saved_explain_analyze", kCounters},
    {"run_command_on_*", kCounters},
    {"master_run_on_worker", kCounters},
    {"citus_stat_*", kCounters},
    {"citus_dist_stat_*", kCounters},
    {"citus_query_stats", kCounters},
    {"citus_worker_stat_activity", kCounters},
    {"get_all_active_transactions", kCounters},
    {"get_global_active_transactions", kCounters},
    {"citus_lock*", kLocks},
    {"dump_local_wait_edges", kLocks},
    {"dump_global_wait_edges", kLocks},
    {"pg_cancel_backend", kProcesses},
    {"pg_terminate_backend", kProcesses},
    {"citus_relation_size", kSizes},
    {"citus_table_size", kSizes},
    {"citus_total_relation_size", kSizes},
    {"citus_shard_sizes", kSizes},
    {"citus_shards_on_worker", kSizes},
    {"citus_local_disk_space_stats", kSizes},
    {"worker_partitioned_*", kSizes},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

template <size_t kSize>
const char* find_told(const Denied (&list)[kSize], const char* name) {
  for (const Denied& entry : list) {
    if (matches(entry.name, name)) return entry.tells;
  }
  return nullptr;
}

// PostgreSQL's own functions of which the list is known to say nothing. Each start of a function
// asks, and nearly all of them are such. Nobody gives one of these another name.
constexpr Oid kBits = 64;
uint64 untold[FirstNormalObjectId / kBits];

const char* told_by_builtin(Oid function) {
  const uint64 bit = uint64{1} << (function % kBits);
  if ((untold[function / kBits] & bit) != 0) return nullptr;
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return nullptr;
  const auto* entry = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
  const char* tells = entry->pronamespace == PG_CATALOG_NAMESPACE
                          ? find_told(kFunctions, NameStr(entry->proname))
                          : nullptr;
  ReleaseSysCache(row);
  if (tells == nullptr) untold[function / kBits] |= bit;
  return tells;
}

const char* told_by_extension(Oid function) {
  if (is_own_object(ProcedureRelationId, function)) return nullptr;
  const Oid extension = getExtensionOfObject(ProcedureRelationId, function);
  if (!OidIsValid(extension)) return nullptr;
  const char* name = get_extension_name(extension);
  if (name == nullptr) return nullptr;
  if (std::string_view(name) == "citus") {
    return find_told(kFunctionsOfCitus, get_func_name(function));
  }
  return find_told(kExtensions, name);
}

}  // namespace

const char* told_by_function(Oid function) {
  return function < FirstNormalObjectId ? told_by_builtin(function) : told_by_extension(function);
}

bool counts_data(Oid function) {
  if (function >= FirstNormalObjectId) return false;
  const char* tells = told_by_builtin(function);
  const bool is_hidden = tells == kCounters || tells == kSizes || tells == kRewrites ||
                         tells == kObjects || tells == kNotifications;
  if (!is_hidden) return false;
  const Oid type = get_func_rettype(function);
  return !get_func_retset(function) && get_typtype(type) == TYPTYPE_BASE;
}

void refuse_function(Oid function) {
  const char* tells = told_by_function(function);
  if (tells == nullptr) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
       errmsg("permission denied for function %s", get_func_name(function)),
       errdetail_restricted(tells),
       tells == kProcesses
           ? errhint("Cancel a query from the client that runs it.")
           : errhint(
                 "Ask private aggregates instead. Psql's \\d does without this function, and so do "
                 "information_schema and dp_protected_tables.")));
}

}  // namespace dpquantile

using namespace dpquantile;

// (function regprocedure) returns text: what told_by_function() finds.
DPQ_FUNCTION(dpq_told_by_function) {
  const char* tells = told_by_function(PG_GETARG_OID(0));
  if (tells == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(tells));
}

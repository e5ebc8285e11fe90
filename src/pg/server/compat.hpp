#pragma once

// The differences between PostgreSQL 15 and 19 that matter to this extension, except PGDLLEXPORT
// (postgres.hpp).

#include <bit>

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "dpquantile supports PostgreSQL 15 to 19"
#endif

// PostgreSQL 16 moved the macros of variable-length values out of postgres.h.
#if PG_VERSION_NUM >= 160000
extern "C" {
#include "varatt.h"
}
#endif

// PostgreSQL 18 reads pages asynchronously.
#if PG_VERSION_NUM >= 180000
extern "C" {
#include "storage/aio_subsys.h"
}
#endif

// PostgreSQL 17 added the setting transaction_timeout.
#define DPQ_HAS_TRANSACTION_TIMEOUT (PG_VERSION_NUM >= 170000)

// PostgreSQL 17 removed the setting old_snapshot_threshold (utils/snapmgr.h).
#if PG_VERSION_NUM >= 170000
#define DPQ_SNAPSHOTS_MAY_GET_TOO_OLD false
#else
#define DPQ_SNAPSHOTS_MAY_GET_TOO_OLD (old_snapshot_threshold >= 0)
#endif

// PostgreSQL 16 renamed this function. The index i starts at 1.
#if PG_VERSION_NUM >= 160000
#define DPQ_LOCAL_BACKEND_STATUS(i) pgstat_get_local_beentry_by_index(i)
#else
#define DPQ_LOCAL_BACKEND_STATUS(i) pgstat_fetch_stat_local_beentry(i)
#endif

// Before PostgreSQL 16, expression_tree_walker() takes a function without a prototype.
#if PG_VERSION_NUM >= 160000
#define DPQ_TREE_WALKER(function) (function)
#else
#define DPQ_TREE_WALKER(function) std::bit_cast<bool (*)()>(+(function))
#endif

// The same for planstate_tree_walker().
#if PG_VERSION_NUM >= 160000
#define DPQ_PLAN_WALKER(function) (function)
#else
#define DPQ_PLAN_WALKER(function) std::bit_cast<bool (*)()>(+(function))
#endif

// The same for expression_tree_mutator().
#if PG_VERSION_NUM >= 160000
#define DPQ_TREE_MUTATOR(function) (function)
#else
#define DPQ_TREE_MUTATOR(function) std::bit_cast<Node* (*)()>(+(function))
#endif

// The expressions of SQL/JSON whose functions check_functions_in_node() does not see. PostgreSQL 16
// added the first, 17 the second.
#if PG_VERSION_NUM >= 170000
#define DPQ_IS_JSON_EXPRESSION(node) (IsA(node, JsonConstructorExpr) || IsA(node, JsonExpr))
#elif PG_VERSION_NUM >= 160000
#define DPQ_IS_JSON_EXPRESSION(node) IsA(node, JsonConstructorExpr)
#else
#define DPQ_IS_JSON_EXPRESSION(node) false
#endif

// The zone of an abbreviation in lower case whose offset changes with that zone; null for others
// (utils/datetime.h). PostgreSQL 16 added two results.
#if PG_VERSION_NUM >= 160000
#define DPQ_DECODE_ABBREVIATION(name, zone)                         \
  do {                                                              \
    int type_ = 0;                                                  \
    int offset_ = 0;                                                \
    DateTimeErrorExtra extra_;                                      \
    DecodeTimezoneAbbrev(0, name, &type_, &offset_, zone, &extra_); \
  } while (false)
#else
#define DPQ_DECODE_ABBREVIATION(name, zone)        \
  do {                                             \
    int offset_ = 0;                               \
    DecodeTimezoneAbbrev(0, name, &offset_, zone); \
  } while (false)
#endif

// The keys of GROUP BY without redundant ones, in the order of ORDER BY if possible. PostgreSQL 16
// leaves the query as it was.
#if PG_VERSION_NUM >= 160000
#define DPQ_GROUP_CLAUSE(root) ((root)->processed_groupClause)
#else
#define DPQ_GROUP_CLAUSE(root) ((root)->parse->groupClause)
#endif

// Expressions of a relation as those of its partition. PostgreSQL 16 takes the relations for their
// ids.
#if PG_VERSION_NUM >= 160000
#define DPQ_TRANSLATE_TO_PARTITION(root, expressions, partition, relation) \
  adjust_appendrel_attrs_multilevel(root, expressions, partition, relation)
#else
#define DPQ_TRANSLATE_TO_PARTITION(root, expressions, partition, relation) \
  adjust_appendrel_attrs_multilevel(root, expressions, (partition)->relids, (relation)->relids)
#endif

// PostgreSQL 18 moved the functions that write properties of EXPLAIN.
#if PG_VERSION_NUM >= 180000
#define DPQ_EXPLAIN_FORMAT_HEADER "commands/explain_format.h"
#else
#define DPQ_EXPLAIN_FORMAT_HEADER "commands/explain.h"
#endif

// How many entries the range table of a plan has for EXPLAIN, which names the table of a column
// where there are several. PostgreSQL 18 has one for the group keys, too, which does not count.
#if PG_VERSION_NUM >= 180000
#define DPQ_EXPLAINED_ENTRIES(explain) ((explain)->rtable_size)
#else
#define DPQ_EXPLAINED_ENTRIES(explain) list_length((explain)->rtable)
#endif

// What ExecutorCheckPerms_hook gets of each relation, and its parameters: PostgreSQL 16 moved the
// permissions out of the range table.
// DPQ_PLAN_PERMISSIONS is the same list of a plan.
#if PG_VERSION_NUM >= 160000
#define DPQ_RELATION_PERMISSIONS RTEPermissionInfo
#define DPQ_CHECK_PERMS_PARAMETERS List *range_table, List *permissions, bool ereport_on_violation
#define DPQ_CHECK_PERMS_ARGUMENTS range_table, permissions, ereport_on_violation
#define DPQ_PLAN_PERMISSIONS(plan) ((plan)->permInfos)
#define DPQ_CHECK_QUERY_PERMISSIONS(query) \
  ExecCheckPermissions((query)->rtable, (query)->rteperminfos, true)
#else
#define DPQ_RELATION_PERMISSIONS RangeTblEntry
#define DPQ_CHECK_PERMS_PARAMETERS List *permissions, bool ereport_on_violation
#define DPQ_CHECK_PERMS_ARGUMENTS permissions, ereport_on_violation
#define DPQ_PLAN_PERMISSIONS(plan) ((plan)->rtable)
#define DPQ_CHECK_QUERY_PERMISSIONS(query) ExecCheckRTPerms((query)->rtable, true)
#endif

// Gives a query the permissions of the range table that it takes over from another, and takes them
// away with its range table.
#if PG_VERSION_NUM >= 160000
#define DPQ_MOVE_PERMISSIONS(to, from) ((to)->rteperminfos = (from)->rteperminfos)
#define DPQ_FORGET_PERMISSIONS(query) ((query)->rteperminfos = NIL)
#else
#define DPQ_FORGET_PERMISSIONS(query) ((void)(query))
#define DPQ_MOVE_PERMISSIONS(to, from) ((void)(to), (void)(from))
#endif

// Gives a query the permissions of the entries that a parser has made for it, and moves an entry
// with permissions into the range table of another query (parser/parse_node.h).
#if PG_VERSION_NUM >= 160000
#define DPQ_TAKE_PERMISSIONS(query, parser) ((query)->rteperminfos = (parser)->p_rteperminfos)
#define DPQ_PERMISSIONS_OF_ITEM(item) ((item)->p_perminfo)
#define DPQ_MOVE_ENTRY(query, entry, permissions)                       \
  ((query)->rteperminfos = lappend((query)->rteperminfos, permissions), \
   (void)((entry)->perminfoindex = static_cast<Index>(list_length((query)->rteperminfos))))
#else
#define DPQ_TAKE_PERMISSIONS(query, parser) ((void)(query), (void)(parser))
#define DPQ_PERMISSIONS_OF_ITEM(item) ((item)->p_rte)
#define DPQ_MOVE_ENTRY(query, entry, permissions) \
  ((void)(query), (void)(entry), (void)(permissions))
#endif

// Moves the entry that has the rights on a view from the first place of its query to the entries of
// a query that is to stand in the place of the view's. PostgreSQL 16 has them where the view is
// named.
#if PG_VERSION_NUM >= 160000
#define DPQ_TAKE_ENTRY_OF_VIEW(entries, view) ((void)(entries), (void)(view))
#else
#define DPQ_TAKE_ENTRY_OF_VIEW(entries, view)                                 \
  do {                                                                        \
    ListCell* first = list_head((view)->rtable);                              \
    *(entries) = list_make1(lfirst(first));                                   \
    lfirst(first) = makeNode(RangeTblEntry);                                  \
    static_cast<RangeTblEntry*>(lfirst(first))->rtekind = RTE_RESULT;         \
    static_cast<RangeTblEntry*>(lfirst(first))->eref = makeAlias("old", NIL); \
  } while (false)
#endif

// Gives an entry that was added to the range table of a plan the permissions of an entry of a query
// (parser/parse_relation.h).
#if PG_VERSION_NUM >= 160000
#define DPQ_COPY_PERMISSIONS(plan, added, query, entry)                                          \
  ((entry)->perminfoindex == 0                                                                   \
       ? (void)0                                                                                 \
       : (void)((plan)->permInfos =                                                              \
                    lappend((plan)->permInfos,                                                   \
                            copyObjectImpl(getRTEPermissionInfo((query)->rteperminfos, entry))), \
                (added)->perminfoindex = static_cast<Index>(list_length((plan)->permInfos))))
#else
#define DPQ_COPY_PERMISSIONS(plan, added, query, entry)    \
  ((void)(plan), (void)(query),                            \
   (void)((added)->requiredPerms = (entry)->requiredPerms, \
          (added)->checkAsUser = (entry)->checkAsUser,     \
          (added)->selectedCols = bms_copy((entry)->selectedCols)))
#endif

// Has a plan ask for the rights of the role that runs it on an entry with such permissions, and not
// for those of the owner of a view.
// Call it after DPQ_COPY_PERMISSIONS.
#if PG_VERSION_NUM >= 160000
#define DPQ_CHECK_AS_CALLER(plan, added) \
  ((added)->perminfoindex == 0           \
       ? (void)0                         \
       : (void)(getRTEPermissionInfo((plan)->permInfos, added)->checkAsUser = InvalidOid))
#else
#define DPQ_CHECK_AS_CALLER(plan, added) ((void)(plan), (void)((added)->checkAsUser = InvalidOid))
#endif

// PostgreSQL 18 added generated columns that are computed when they are read, by an expression
// (rewrite/rewriteHandler.h).
#if PG_VERSION_NUM >= 180000
#define DPQ_IS_VIRTUAL(generated) ((generated) == ATTRIBUTE_GENERATED_VIRTUAL)
#define DPQ_GENERATION_EXPRESSION(relation, number) build_generation_expression(relation, number)
#else
#define DPQ_IS_VIRTUAL(generated) false
#define DPQ_GENERATION_EXPRESSION(relation, number) \
  ((void)(relation), (void)(number), static_cast<Node*>(nullptr))
#endif

// PostgreSQL 18 lets a NOT NULL be NOT VALID: then older rows may have NULL. The macro gives the
// row of the constraint of a column that is NOT NULL, to be freed, or null where each such
// constraint is valid (catalog/pg_constraint.h).
#if PG_VERSION_NUM >= 180000
#define DPQ_NOT_NULL_CONSTRAINT(relation, column) findNotNullConstraintAttnum(relation, column)
#else
#define DPQ_NOT_NULL_CONSTRAINT(relation, column) \
  ((void)(relation), (void)(column), static_cast<HeapTuple>(nullptr))
#endif

// PostgreSQL 18 has foreign keys that are not enforced, and those that compare periods
// (catalog/pg_constraint.h).
#if PG_VERSION_NUM >= 180000
#define DPQ_IS_ENFORCED(constraint) ((constraint)->conenforced)
#define DPQ_IS_OF_PERIODS(constraint) ((constraint)->conperiod)
#else
#define DPQ_IS_ENFORCED(constraint) ((void)(constraint), true)
#define DPQ_IS_OF_PERIODS(constraint) ((void)(constraint), false)
#endif

// PostgreSQL 16 marks a column with the outer joins that may have made it NULL.
#if PG_VERSION_NUM >= 160000
#define DPQ_SET_NULLING_JOINS(column, joins) ((column)->varnullingrels = (joins))
#else
#define DPQ_SET_NULLING_JOINS(column, joins) ((void)(column), (void)(joins))
#endif

// PostgreSQL 18 has an entry of the range table for the group keys. The macro puts the keys back
// where the query refers to them. DPQ_GROUP_KEYS is the list of keys that an entry has, or null,
// and DPQ_IGNORE_GROUP_KEYS the flag by which a walk over a query leaves these lists out.
#if PG_VERSION_NUM >= 180000
#define DPQ_RESOLVE_GROUP_KEYS(query)                                                           \
  ((query)->hasGroupRTE                                                                         \
       ? (void)((query)->targetList = reinterpret_cast<List*>(flatten_group_exprs(              \
                    nullptr, query, reinterpret_cast<Node*>((query)->targetList))),             \
                (query)->havingQual = flatten_group_exprs(nullptr, query, (query)->havingQual)) \
       : (void)0)
#define DPQ_GROUP_KEYS(entry) ((entry)->rtekind == RTE_GROUP ? (entry)->groupexprs : nullptr)
#define DPQ_IGNORE_GROUP_KEYS QTW_IGNORE_GROUPEXPRS
// Call it when the keys are resolved and the range table is another query's.
#define DPQ_FORGET_GROUP_KEYS(query) ((query)->hasGroupRTE = false)
#define DPQ_FORGET_GROUP_ENTRY(entry)                                     \
  ((entry)->rtekind == RTE_GROUP                                          \
       ? (void)((entry)->groupexprs = NIL, (entry)->rtekind = RTE_RESULT) \
       : (void)0)
#else
#define DPQ_IGNORE_GROUP_KEYS 0
#define DPQ_FORGET_GROUP_KEYS(query) ((void)(query))
#define DPQ_FORGET_GROUP_ENTRY(entry) ((void)(entry))
#define DPQ_RESOLVE_GROUP_KEYS(query) ((void)0)
#define DPQ_GROUP_KEYS(entry) ((void)(entry), static_cast<List*>(nullptr))
#endif

// PostgreSQL 18 dropped the last argument of ExecutorRun. DPQ_RUN reads so many rows of a query; 0:
// all.
#if PG_VERSION_NUM >= 180000
#define DPQ_EXECUTOR_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define DPQ_EXECUTOR_RUN_ARGUMENTS query, direction, count
#define DPQ_RUN(query, most) ExecutorRun(query, ForwardScanDirection, most)
#else
#define DPQ_EXECUTOR_RUN_PARAMETERS \
  QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define DPQ_EXECUTOR_RUN_ARGUMENTS query, direction, count, execute_once
#define DPQ_RUN(query, most) ExecutorRun(query, ForwardScanDirection, most, true)
#endif

// All settings (utils/guc_tables.h); count is an int*. PostgreSQL 16 merged two functions.
#if PG_VERSION_NUM >= 160000
#define DPQ_SETTINGS(count) get_guc_variables(count)
#else
#define DPQ_SETTINGS(count) (*(count) = GetNumConfigOptions(), get_guc_variables())
#endif

// A setting of some words as a config_enum* (utils/guc_tables.h), which begins with what all
// settings have before PostgreSQL 19, and is a part of it since.
#if PG_VERSION_NUM >= 190000
#define DPQ_ENUM_SETTING(setting) (&(setting)->_enum)
#else
#define DPQ_ENUM_SETTING(setting) reinterpret_cast<config_enum*>(setting)
#endif

// The columns of an entry of FROM as a List* of Var (parser/parse_relation.h). PostgreSQL 18 added
// the rows of RETURNING.
#if PG_VERSION_NUM >= 180000
#define DPQ_EXPAND_ENTRY(entry, number, columns) \
  expandRTE(entry, number, 0, VAR_RETURNING_DEFAULT, -1, false, nullptr, columns)
#else
#define DPQ_EXPAND_ENTRY(entry, number, columns) \
  expandRTE(entry, number, 0, -1, false, nullptr, columns)
#endif

// Evaluates an expression that has effects and no value, such as that of the transitions of
// aggregates (executor/executor.h). Since PostgreSQL 18 there is no place for a value.
#if PG_VERSION_NUM >= 180000
#define DPQ_EVALUATE(expression, context) ExecEvalExprNoReturn(expression, context)
#else
#define DPQ_EVALUATE(expression, context)               \
  do {                                                  \
    bool is_null_;                                      \
    (void)ExecEvalExpr(expression, context, &is_null_); \
  } while (false)
#endif

// PostgreSQL 18 may make a minimal tuple with room before it.
#if PG_VERSION_NUM >= 180000
#define DPQ_FORM_MINIMAL_TUPLE(columns, values, nulls) \
  heap_form_minimal_tuple(columns, values, nulls, 0)
#else
#define DPQ_FORM_MINIMAL_TUPLE(columns, values, nulls) \
  heap_form_minimal_tuple(columns, values, nulls)
#endif

// PostgreSQL 17 added infinite intervals.
#if PG_VERSION_NUM >= 170000
#define DPQ_INTERVAL_IS_NOBEGIN(interval) INTERVAL_IS_NOBEGIN(interval)
#define DPQ_INTERVAL_IS_NOEND(interval) INTERVAL_IS_NOEND(interval)
#else
#define DPQ_INTERVAL_IS_NOBEGIN(interval) false
#define DPQ_INTERVAL_IS_NOEND(interval) false
#endif

// The OID of reverse(text) in utils/fmgroids.h. PostgreSQL 18 added reverse(bytea).
#if PG_VERSION_NUM >= 180000
#define DPQ_F_REVERSE F_REVERSE_TEXT
#else
#define DPQ_F_REVERSE F_REVERSE
#endif

// A line of the table of functions (pg/vocabulary/function_rule.hpp) that older versions lack
#if PG_VERSION_NUM >= 160000
#define DPQ_SINCE_16(...) __VA_ARGS__
#else
#define DPQ_SINCE_16(...)
#endif
#if PG_VERSION_NUM >= 170000
#define DPQ_SINCE_17(...) __VA_ARGS__
#else
#define DPQ_SINCE_17(...)
#endif
#if PG_VERSION_NUM >= 180000
#define DPQ_SINCE_18(...) __VA_ARGS__
#else
#define DPQ_SINCE_18(...)
#endif
#if PG_VERSION_NUM >= 190000
#define DPQ_SINCE_19(...) __VA_ARGS__
#else
#define DPQ_SINCE_19(...)
#endif

// The places of an operator in the families of indexes in order, or NIL (utils/lsyscache.h), and
// what the operator is in one of them, by the numbers of btrees (access/stratnum.h). PostgreSQL 18
// renamed both, and has the same numbers for these comparisons (access/cmptype.h).
#if PG_VERSION_NUM >= 180000
#define DPQ_PLACES_IN_ORDER(operation) get_op_index_interpretation(operation)
#define DPQ_STRATEGY_IN_ORDER(place) \
  static_cast<int>(static_cast<const OpIndexInterpretation*>(place)->cmptype)
#else
#define DPQ_PLACES_IN_ORDER(operation) get_op_btree_interpretation(operation)
#define DPQ_STRATEGY_IN_ORDER(place) static_cast<const OpBtreeInterpretation*>(place)->strategy
#endif

// Releases what a failed call held of buffers, as the abort of a transaction does first. Others
// wait for a page that it was reading: PostgreSQL 15 gives it up here, 16 and 17 with the resource
// owner. PostgreSQL 18 sends off the reads that were still held back.
#if PG_VERSION_NUM >= 180000
#define DPQ_RELEASE_BUFFERS() (pgaio_error_cleanup(), UnlockBuffers())
#elif PG_VERSION_NUM >= 160000
#define DPQ_RELEASE_BUFFERS() UnlockBuffers()
#else
#define DPQ_RELEASE_BUFFERS() (AbortBufferIO(), UnlockBuffers())
#endif

// What planner_hook gets, and a call of a planner for no EXPLAIN. PostgreSQL 19 tells the planner
// of the EXPLAIN that asks (optimizer/planner.h, tcop/tcopprot.h).
#if PG_VERSION_NUM >= 190000
#define DPQ_PLANNER_PARAMETERS \
  Query *query, const char *text, int options, ParamListInfo params, ExplainState *explain
#define DPQ_PLANNER_ARGUMENTS query, text, options, params, explain
#define DPQ_PLAN(planner, query, text, options, params) \
  planner(query, text, options, params, nullptr)
#else
#define DPQ_PLANNER_PARAMETERS Query *query, const char *text, int options, ParamListInfo params
#define DPQ_PLANNER_ARGUMENTS query, text, options, params
#define DPQ_PLAN(planner, query, text, options, params) planner(query, text, options, params)
#endif

// The hook that sees what the planner knows of a table (optimizer/plancat.h). PostgreSQL 19 has one
// for all entries of FROM instead (optimizer/pathnode.h).
#if PG_VERSION_NUM >= 190000
#define DPQ_RELATION_INFO_HOOK_TYPE build_simple_rel_hook_type
#define DPQ_RELATION_INFO_HOOK build_simple_rel_hook
#define DPQ_RELATION_INFO_PARAMETERS \
  PlannerInfo *root, RelOptInfo *relation, RangeTblEntry *given_entry
#define DPQ_RELATION_INFO_ARGUMENTS root, relation, given_entry
#else
#define DPQ_RELATION_INFO_HOOK_TYPE get_relation_info_hook_type
#define DPQ_RELATION_INFO_HOOK get_relation_info_hook
#define DPQ_RELATION_INFO_PARAMETERS \
  PlannerInfo *root, Oid table, bool has_children, RelOptInfo *relation
#define DPQ_RELATION_INFO_ARGUMENTS root, table, has_children, relation
#endif

// The time of a query that other extensions ask for (executor/execdesc.h). PostgreSQL 19 renamed
// it.
#if PG_VERSION_NUM >= 190000
#define DPQ_QUERY_TIME(query) ((query)->query_instr)
#else
#define DPQ_QUERY_TIME(query) ((query)->totaltime)
#endif

// A scan of a table without keys (access/tableam.h). PostgreSQL 19 takes flags.
#if PG_VERSION_NUM >= 190000
#define DPQ_SCAN_TABLE(table, snapshot) table_beginscan(table, snapshot, 0, nullptr, SO_NONE)
#else
#define DPQ_SCAN_TABLE(table, snapshot) table_beginscan(table, snapshot, 0, nullptr)
#endif

// The setting log_min_messages of this process (utils/guc.h). PostgreSQL 19 has one for each kind
// of process.
#if PG_VERSION_NUM >= 190000
#define DPQ_LOG_MIN_MESSAGES log_min_messages[MyBackendType]
#else
#define DPQ_LOG_MIN_MESSAGES log_min_messages
#endif

// PostgreSQL 19 may aggregate the rows of one side of a join before it joins them.
#define DPQ_HAS_EAGER_AGGREGATE (PG_VERSION_NUM >= 190000)

// Calls a function of dates or numerics that may fail, and sets a bool or int to whether it has
// failed: DPQ_SOFTLY(&failed, DPQ_SOFT_DATE(date2timestamp), date) (utils/date.h,
// utils/timestamp.h, utils/numeric.h). PostgreSQL 19 reports soft errors here.
#if PG_VERSION_NUM >= 190000
extern "C" {
#include "nodes/miscnodes.h"
}
#define DPQ_SOFT_FAILURE Node
#define DPQ_SOFT_DATE(function) function##_safe
#define DPQ_SOFT_NUMERIC(function) function##_safe
#define DPQ_SOFTLY(failed, function, ...)                                           \
  [&] {                                                                             \
    ErrorSaveContext soft{T_ErrorSaveContext, false, false, nullptr};               \
    const auto soft_result = function(__VA_ARGS__, reinterpret_cast<Node*>(&soft)); \
    *(failed) = soft.error_occurred;                                                \
    return soft_result;                                                             \
  }()
#else
#define DPQ_SOFT_FAILURE bool
#define DPQ_SOFT_DATE(function) function##_opt_overflow
#define DPQ_SOFT_NUMERIC(function) function##_opt_error
#define DPQ_SOFTLY(failed, function, ...) function(__VA_ARGS__, failed)
#endif

// The statement CLUSTER (nodes/parsenodes.h), which is one form of REPACK since PostgreSQL 19.
#if PG_VERSION_NUM >= 190000
#define DPQ_CLUSTER_TAG T_RepackStmt
#define DPQ_CLUSTER_STATEMENT RepackStmt
#else
#define DPQ_CLUSTER_TAG T_ClusterStmt
#define DPQ_CLUSTER_STATEMENT ClusterStmt
#endif

// The number of a catalog cache that a callback gets (utils/inval.h, utils/syscache.h).
#if PG_VERSION_NUM >= 190000
#define DPQ_SYSCACHE SysCacheIdentifier
#else
#define DPQ_SYSCACHE int
#endif

// Whether a call of a window function has IGNORE NULLS or RESPECT NULLS (nodes/primnodes.h), which
// PostgreSQL 19 added.
#if PG_VERSION_NUM >= 190000
#define DPQ_TREATS_NULLS(call) ((call)->ignore_nulls != 0)
#else
#define DPQ_TREATS_NULLS(call) ((void)(call), false)
#endif

// What a handler of a signal hands to another one. PostgreSQL 19 tells who has sent the signal.
#if PG_VERSION_NUM >= 190000
#define DPQ_SIGNAL_ARGUMENTS postgres_signal_arg, pg_siginfo
#else
#define DPQ_SIGNAL_ARGUMENTS postgres_signal_arg
#endif

// Writes a jsonb value by pushJsonbValue() (utils/jsonb.h). PostgreSQL 19 keeps the value with the
// state of the writer, which begins as {}.
#if PG_VERSION_NUM >= 190000
#define DPQ_JSONB_WRITER JsonbInState
#define DPQ_END_JSONB(writer, token) (pushJsonbValue(writer, token, nullptr), (writer)->result)
#else
#define DPQ_JSONB_WRITER JsonbParseState*
#define DPQ_END_JSONB(writer, token) pushJsonbValue(writer, token, nullptr)
#endif

// PostgreSQL 18 lets a module state its name and version. The Makefile defines DPQ_VERSION.
#ifdef PG_MODULE_MAGIC_EXT
#define DPQ_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "dpquantile", .version = DPQ_VERSION)
#else
#define DPQ_MODULE_MAGIC PG_MODULE_MAGIC
#endif

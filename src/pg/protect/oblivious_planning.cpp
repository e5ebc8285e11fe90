#include "pg/protect/oblivious_planning.hpp"

#include <climits>
#include <iterator>

#include "pg/protect/catalog_gate.hpp"

extern "C" {
#include "catalog/objectaccess.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/guc.h"
#include "utils/regproc.h"
#include "utils/selfuncs.h"
}

namespace dpquantile {

namespace {

constexpr bool* kMethods[] = {&enable_seqscan,      &enable_indexscan, &enable_indexonlyscan,
                              &enable_bitmapscan,   &enable_tidscan,   &enable_sort,
                              &enable_hashjoin,     &enable_mergejoin, &enable_incremental_sort,
                              &enable_material,     &enable_memoize,   &enable_nestloop,
                              &enable_parallel_hash};

bool is_off(const bool* method) {
  return method == &enable_nestloop || method == &enable_mergejoin ||
         method == &enable_parallel_hash;
}

struct Cost {
  double* setting;
  double usual;
};

constexpr Cost kCosts[] = {{&seq_page_cost, DEFAULT_SEQ_PAGE_COST},
                           {&random_page_cost, DEFAULT_RANDOM_PAGE_COST},
                           {&cpu_tuple_cost, DEFAULT_CPU_TUPLE_COST},
                           {&cpu_index_tuple_cost, DEFAULT_CPU_INDEX_TUPLE_COST},
                           {&cpu_operator_cost, DEFAULT_CPU_OPERATOR_COST}};

static_assert(std::size(kMethods) == std::size(PlannerSettings{}.methods));
static_assert(std::size(kCosts) == std::size(PlannerSettings{}.costs));

bool is_planning = false;
object_access_hook_type previous_access = nullptr;
get_relation_info_hook_type previous_info = nullptr;
get_relation_stats_hook_type previous_stats = nullptr;
get_index_stats_hook_type previous_index_stats = nullptr;

// Statistics of several columns, and of expressions
void hide_extended_statistics(PlannerInfo* root, Oid table, bool has_children,
                              RelOptInfo* relation) {
  if (previous_info != nullptr) previous_info(root, table, has_children, relation);
  if (is_planning) relation->statlist = NIL;
}

// Without a row of pg_statistic there are none.
bool hide_statistics(PlannerInfo* root, RangeTblEntry* table, AttrNumber column,
                     VariableStatData* known) {
  if (is_planning) return true;
  return previous_stats != nullptr && previous_stats(root, table, column, known);
}

bool hide_index_statistics(PlannerInfo* root, Oid index, AttrNumber column,
                           VariableStatData* known) {
  if (is_planning) return true;
  return previous_index_stats != nullptr && previous_index_stats(root, index, column, known);
}

// PostgreSQL tells of each function before it calls it.
void refuse_other_code(ObjectAccessType access, Oid catalog, Oid object, int part, void* argument) {
  if (previous_access != nullptr) previous_access(access, catalog, object, part, argument);
  if (!is_planning || access != OAT_FUNCTION_EXECUTE || passes_gate(catalog, object)) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("function %s would run while a query over protected tables is planned",
                  format_procedure(object)),
           errdetail("An index, extended statistics, a CHECK constraint or a partition key of a "
                     "table of the query calls it with constants. Nothing was charged."),
           errhint("Leave this table out of the query.")));
}

}  // namespace

void install_oblivious_planning() {
  previous_info = get_relation_info_hook;
  get_relation_info_hook = hide_extended_statistics;
  previous_stats = get_relation_stats_hook;
  get_relation_stats_hook = hide_statistics;
  previous_index_stats = get_index_stats_hook;
  get_index_stats_hook = hide_index_statistics;
  previous_access = object_access_hook;
  object_access_hook = refuse_other_code;
}

PlannerSettings begin_oblivious_planning() {
  PlannerSettings usual{};
  for (size_t i = 0; i < std::size(kMethods); ++i) {
    usual.methods[i] = *kMethods[i];
    *kMethods[i] = !is_off(kMethods[i]);
  }
  for (size_t i = 0; i < std::size(kCosts); ++i) {
    usual.costs[i] = *kCosts[i].setting;
    *kCosts[i].setting = kCosts[i].usual;
  }
  is_planning = true;
  usual.jit = jit_enabled;
  jit_enabled = false;
  usual.memory = work_mem;
  work_mem = MAX_KILOBYTES;
  return usual;
}

void end_oblivious_planning(const PlannerSettings& usual) {
  for (size_t i = 0; i < std::size(kMethods); ++i) *kMethods[i] = usual.methods[i];
  for (size_t i = 0; i < std::size(kCosts); ++i) *kCosts[i].setting = usual.costs[i];
  jit_enabled = usual.jit;
  work_mem = usual.memory;
  is_planning = false;
}

}  // namespace dpquantile

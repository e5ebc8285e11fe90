#include "pg/protect/oblivious_planning.hpp"

#include <climits>
#include <iterator>

extern "C" {
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace dpquantile {

namespace {

constexpr bool* kMethods[] = {&enable_seqscan,       &enable_indexscan, &enable_indexonlyscan,
                              &enable_bitmapscan,    &enable_tidscan,   &enable_sort,
                              &enable_hashjoin,      &enable_mergejoin, &enable_incremental_sort,
                              &enable_material,      &enable_memoize,   &enable_nestloop,
                              &enable_parallel_hash, &enable_hashagg};

bool is_off(const bool* method, bool sorts_groups) {
  if (method == &enable_hashagg) return sorts_groups;
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
get_relation_info_hook_type previous_info = nullptr;
get_relation_stats_hook_type previous_stats = nullptr;
get_index_stats_hook_type previous_index_stats = nullptr;
get_attavgwidth_hook_type previous_width = nullptr;

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

// The width of the type, as of a column without statistics; 0: as PostgreSQL finds it.
int32 width_of_type(Oid table, AttrNumber column) {
  if (is_planning) {
    Oid type;
    int32 modifier;
    Oid collation;
    get_atttypetypmodcoll(table, column, &type, &modifier, &collation);
    return get_typavgwidth(type, modifier);
  }
  return previous_width != nullptr ? previous_width(table, column) : 0;
}

}  // namespace

void install_oblivious_planning() {
  previous_info = get_relation_info_hook;
  get_relation_info_hook = hide_extended_statistics;
  previous_stats = get_relation_stats_hook;
  get_relation_stats_hook = hide_statistics;
  previous_index_stats = get_index_stats_hook;
  get_index_stats_hook = hide_index_statistics;
  previous_width = get_attavgwidth_hook;
  get_attavgwidth_hook = width_of_type;
}

PlannerSettings begin_oblivious_planning(bool sorts_groups) {
  PlannerSettings usual{};
  for (size_t i = 0; i < std::size(kMethods); ++i) {
    usual.methods[i] = *kMethods[i];
    *kMethods[i] = !is_off(kMethods[i], sorts_groups);
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

#include "pg/borrowed/oblivious_planning.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <iterator>
#include <utility>

#include "pg/server/work_memory.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_am_d.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace dpquantile {

namespace {

constexpr bool* kMethods[] = {&enable_seqscan,
                              &enable_indexscan,
                              &enable_indexonlyscan,
                              &enable_bitmapscan,
                              &enable_tidscan,
                              &enable_sort,
                              &enable_hashjoin,
                              &enable_mergejoin,
                              &enable_incremental_sort,
                              &enable_material,
                              &enable_memoize,
                              &enable_nestloop,
                              &enable_parallel_hash,
                              &enable_hashagg,
                              &enable_partitionwise_aggregate,
                              &enable_gathermerge,
                              DPQ_SINCE_19(&enable_eager_aggregate)};

bool is_off(const bool* method) {
  return method == &enable_nestloop || method == &enable_mergejoin ||
         method == &enable_parallel_hash || method == &enable_sort ||
         method == &enable_incremental_sort || method == &enable_partitionwise_aggregate ||
         method == &enable_gathermerge DPQ_SINCE_19(|| method == &enable_eager_aggregate);
}

struct CostSetting {
  double* setting;
  double usual;
};

constexpr CostSetting kCosts[] = {{&seq_page_cost, DEFAULT_SEQ_PAGE_COST},
                                  {&random_page_cost, DEFAULT_RANDOM_PAGE_COST},
                                  {&cpu_tuple_cost, DEFAULT_CPU_TUPLE_COST},
                                  {&cpu_index_tuple_cost, DEFAULT_CPU_INDEX_TUPLE_COST},
                                  {&cpu_operator_cost, DEFAULT_CPU_OPERATOR_COST}};

static_assert(std::size(kMethods) == std::size(PlannerSettings{}.methods));
static_assert(std::size(kCosts) == std::size(PlannerSettings{}.costs));

bool is_planning = false;
SipKey size_key{};
DPQ_RELATION_INFO_HOOK_TYPE previous_info = nullptr;
get_relation_stats_hook_type previous_stats = nullptr;
get_index_stats_hook_type previous_index_stats = nullptr;
get_attavgwidth_hook_type previous_width = nullptr;

// ---- Sizes ---------------------------------------------------------------------------------

// PostgreSQL has no parallel scan of fewer pages by default.
constexpr double kFewPages = 1024;
constexpr double kFactor = 4;

// Pages that stand for all tables between two limits. The limits are 1024 * 4^u, 1024 * 4^(u + 1)
// and so on, where the secret and the table decide u between 0 and 1: whether a table of p pages
// and one of p + 1 are on two sides of a limit has a probability of 1 / (p ln 4), for 1024 pages
// and more, and is the same for all queries.
double coarse_pages(Oid table, BlockNumber pages) {
  constexpr uint64 kOfSizes = 0x73697A6573ULL << 24;
  constexpr int kBits = 53;
  const uint64 hash = sip_hash_of_number(size_key, kOfSizes ^ table);
  const double u = std::ldexp(static_cast<double>(hash >> (64 - kBits)), -kBits);
  // An empty table gives minus infinity.
  const double limits = std::floor(std::log(pages / kFewPages) / std::log(kFactor) - u) + 1;
  return limits < 1 ? kFewPages / 2 : kFewPages * std::pow(kFactor, limits);
}

// As PostgreSQL does it for a table without statistics
double rows_of_page(Oid table) {
  const int32 width = MAXALIGN(get_relation_data_width(table, nullptr));
  const auto row = width + MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);
  return std::floor(static_cast<double>(BLCKSZ - SizeOfPageHeaderData) / static_cast<double>(row));
}

// A row has an entry of its own in these, and where a search ends depends on keys alone. A BRIN
// index has one entry for all rows of many pages, so that one row decides whether the others are
// read, and who looks for it finds its value by the time; the key of a page of a GiST or SP-GiST
// index covers all its rows, so that one row lets each condition beyond the others read a page; a
// GIN index has a list of new entries, which one row empties. Operator families of extensions are
// none of PostgreSQL's own objects.
bool has_entries_of_rows(const IndexOptInfo* index) {
  constexpr Oid kMethodsOfIndexes[] = {BTREE_AM_OID, HASH_AM_OID};
  const Oid* families = index->opfamily;
  return std::ranges::find(kMethodsOfIndexes, index->relam) != std::end(kMethodsOfIndexes) &&
         std::none_of(families, families + index->nkeycolumns,
                      [](Oid family) { return family >= FirstUnpinnedObjectId; });
}

void hide_size_of_index(const RelOptInfo* relation, IndexOptInfo* index) {
  constexpr int kHeight = 2;
  constexpr BlockNumber kTablePages = 4;  // for one of the index
  index->pages = relation->pages / kTablePages;
  index->tuples = relation->tuples;
  index->tree_height = index->relam == BTREE_AM_OID ? kHeight : -1;
}

void hide_size(Oid table, RelOptInfo* relation) {
  relation->pages = static_cast<BlockNumber>(
      std::min(coarse_pages(table, relation->pages), static_cast<double>(MaxBlockNumber)));
  relation->tuples = relation->pages * rows_of_page(table);
  relation->allvisfrac = 1;
  ListCell* cell;
  foreach (cell, relation->indexlist) {
    auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    if (has_entries_of_rows(index)) {
      hide_size_of_index(relation, index);
    } else {
      relation->indexlist = foreach_delete_current(relation->indexlist, cell);
    }
  }
}

// Whoever may read a table may count its rows. A parent has the rows of its children, which the
// planner looks at one by one.
bool has_hidden_size(const RangeTblEntry* entry, const RelOptInfo* relation) {
  return !entry->inh && relation->fdwroutine == nullptr &&
         pg_class_aclcheck(entry->relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK;
}

// Also statistics of several columns, and of expressions
void hide_facts(DPQ_RELATION_INFO_PARAMETERS) {
  if (previous_info != nullptr) previous_info(DPQ_RELATION_INFO_ARGUMENTS);
  const RangeTblEntry* entry = planner_rt_fetch(relation->relid, root);
  if (!is_planning || entry->rtekind != RTE_RELATION) return;
  relation->statlist = NIL;
  if (has_hidden_size(entry, relation)) hide_size(entry->relid, relation);
}

// ---- Statistics of columns -----------------------------------------------------------------

// Says that there is no row of pg_statistic. The memory may be what was on the stack.
bool know_nothing(VariableStatData* known) {
  known->statsTuple = nullptr;
  return true;
}

bool hide_statistics(PlannerInfo* root, RangeTblEntry* table, AttrNumber column,
                     VariableStatData* known) {
  if (is_planning) return know_nothing(known);
  return previous_stats != nullptr && previous_stats(root, table, column, known);
}

bool hide_index_statistics(PlannerInfo* root, Oid index, AttrNumber column,
                           VariableStatData* known) {
  if (is_planning) return know_nothing(known);
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
  previous_info = DPQ_RELATION_INFO_HOOK;
  DPQ_RELATION_INFO_HOOK = hide_facts;
  previous_stats = get_relation_stats_hook;
  get_relation_stats_hook = hide_statistics;
  previous_index_stats = get_index_stats_hook;
  get_index_stats_hook = hide_index_statistics;
  previous_width = get_attavgwidth_hook;
  get_attavgwidth_hook = width_of_type;
}

PlannerSettings begin_oblivious_planning(const SipKey& key) {
  size_key = key;
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
  DPQ_SINCE_19(usual.setup = std::exchange(planner_setup_hook, nullptr);
               usual.shutdown = std::exchange(planner_shutdown_hook, nullptr);
               usual.joinrel = std::exchange(joinrel_setup_hook, nullptr);
               usual.join_path = std::exchange(join_path_setup_hook, nullptr);)
  usual.session_memory = replace_session_memory(session_memory());
  work_mem = MAX_KILOBYTES;
  return usual;
}

void end_oblivious_planning(const PlannerSettings& usual) {
  for (size_t i = 0; i < std::size(kMethods); ++i) *kMethods[i] = usual.methods[i];
  for (size_t i = 0; i < std::size(kCosts); ++i) *kCosts[i].setting = usual.costs[i];
  jit_enabled = usual.jit;
  work_mem = usual.memory;
  replace_session_memory(usual.session_memory);
  DPQ_SINCE_19(planner_setup_hook = usual.setup; planner_shutdown_hook = usual.shutdown;
               joinrel_setup_hook = usual.joinrel; join_path_setup_hook = usual.join_path;)
  is_planning = false;
}

}  // namespace dpquantile

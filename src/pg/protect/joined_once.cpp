#include "pg/protect/joined_once.hpp"

#include <iterator>

extern "C" {
#include "jit/jit.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
}

namespace dpquantile {

namespace {

constexpr bool* kMethods[] = {&enable_seqscan,    &enable_indexscan, &enable_indexonlyscan,
                              &enable_bitmapscan, &enable_tidscan,   &enable_sort,
                              &enable_hashjoin,   &enable_mergejoin, &enable_incremental_sort,
                              &enable_material,   &enable_memoize,   &enable_nestloop};

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

}  // namespace

PlannerSettings begin_without_nested_loops() {
  PlannerSettings usual{};
  for (size_t i = 0; i < std::size(kMethods); ++i) {
    usual.methods[i] = *kMethods[i];
    *kMethods[i] = kMethods[i] != &enable_nestloop;
  }
  for (size_t i = 0; i < std::size(kCosts); ++i) {
    usual.costs[i] = *kCosts[i].setting;
    *kCosts[i].setting = kCosts[i].usual;
  }
  usual.jit = jit_enabled;
  jit_enabled = false;
  return usual;
}

void end_without_nested_loops(const PlannerSettings& usual) {
  for (size_t i = 0; i < std::size(kMethods); ++i) *kMethods[i] = usual.methods[i];
  for (size_t i = 0; i < std::size(kCosts); ++i) *kCosts[i].setting = usual.costs[i];
  jit_enabled = usual.jit;
}

}  // namespace dpquantile

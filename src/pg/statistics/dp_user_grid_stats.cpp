// dp_user_grid_stats: mean and variance of every grid.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/user_level/user_grid_stats.hpp"
#include "pg/aggregate/user_aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/server/boundary.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// A GridRelease as plain data, which a longjmp may cross.
struct ReleasedGrids {
  GridStatistics* grids;
  std::size_t count;
  std::uint32_t grids_per_user;
  double error_bound;
};

bool comes_before(GridName a, GridName b) {
  const int order = memcmp(a.text, b.text, std::min(a.length, b.length));
  return order != 0 ? order < 0 : a.length < b.length;
}

// Numbers the grids of a group in the order of their names, so that the answer does not depend on
// the order of the rows. Returns the number of grids.
std::uint32_t sort_grids(const ChargedGroup& group, const Workspace& work) {
  GridNames* names = group.grid_names();
  if (names == nullptr) return 0;
  std::pmr::vector<std::uint32_t> order(names->count(), work.memory);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    work.cancel.tick();
    return comes_before(names->name(a), names->name(b));
  });
  std::pmr::vector<std::uint32_t> place(order.size(), work.memory);
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (UserRow& row : group.user_rows()) {
    work.cancel.tick();
    row.grid = place[row.grid];
  }
  names->reorder(order.data());
  return names->count();
}

ReleasedGrids draw_answer(const ChargedGroup& group) {
  ReleasedGrids released{};
  MemoryContext result = CurrentMemoryContext;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const std::uint32_t grids = sort_grids(group, context);
    const UserRows rows(group.user_rows(), Contribution::kUserInGrid, context);
    const GridRelease release = user_grid_stats(rows, grids, privacy_of(group.parameters),
                                                group.parameters->suppress, context);
    released.count = release.grids.size();
    released.grids_per_user = release.grids_per_user;
    released.error_bound = release.error_bound;
    released.grids = static_cast<GridStatistics*>(ContextMemory(result).allocate(
        std::max<std::size_t>(1, released.count) * sizeof(GridStatistics),
        alignof(GridStatistics)));
    std::ranges::copy(release.grids, released.grids);
  });
  return released;
}

Datum grid_stat(TupleDesc row_type, const ChargedGroup& group, const ReleasedGrids& released,
                const GridStatistics& grid) {
  const FixedPoint scale = fixed_point_of(group.parameters);
  const double width = scale.upper - scale.lower;
  const GridName name = group.grid_names()->name(grid.grid);
  Datum values[] = {
      PointerGetDatum(cstring_to_text_with_len(name.text, static_cast<int>(name.length))),
      Float8GetDatum(scale.value_of(grid.mean)),
      Float8GetDatum(scale.variance_of(grid.variance)),
      Int64GetDatum(static_cast<int64>(grid.counts.users_kept)),
      Float8GetDatum(grid.mean_error * width),
      Float8GetDatum(grid.variance_error * width * width),
      Int32GetDatum(static_cast<int32>(released.grids_per_user)),
      Float8GetDatum(released.error_bound)};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(row_type, values, nulls));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, user anynonarray, grid text, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_user_grids_transition) {
  return add_user_row(fcinfo, Family::kUserGrids);
}

// (state) returns dp_grid_stat[]
DPQ_FUNCTION(dpq_user_grids_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ReleasedGrids released = draw_answer(group);
  const Oid element = get_element_type(get_fn_expr_rettype(fcinfo->flinfo));
  if (!OidIsValid(element)) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the function must return an array")));
  }
  if (released.count == 0) PG_RETURN_ARRAYTYPE_P(construct_empty_array(element));
  TupleDesc row_type = lookup_rowtype_tupdesc_copy(element, -1);
  auto* stats = static_cast<Datum*>(palloc(released.count * sizeof(Datum)));
  for (std::size_t i = 0; i < released.count; ++i) {
    CHECK_FOR_INTERRUPTS();
    stats[i] = grid_stat(row_type, group, released, released.grids[i]);
  }
  PG_RETURN_ARRAYTYPE_P(construct_array(stats, static_cast<int>(released.count), element, -1, false,
                                        TYPALIGN_DOUBLE));
}

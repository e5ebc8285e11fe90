#include "pg/release/state_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "pg/aggregate/call_parameters.hpp"
#include "pg/parameters/call_arguments.hpp"
#include "pg/parameters/default_step.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/server/nodes.hpp"
#include "pg/state/expanded_records.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
}

namespace dpquantile {

namespace {

std::optional<double> number_of_literal(const Node* expression) {
  if (!IsA(expression, Const) || as<Const>(expression)->constisnull) return std::nullopt;
  const auto* literal = as<Const>(expression);
  const auto type = find_value_type(literal->consttype);
  if (!type) return std::nullopt;
  return number_of_value(*type, literal->constvalue);
}

// The cells of the usual value grid between the bounds, which are the last parameters before the
// options.
double cells_between_bounds(const Aggref* call, const FamilyRow& family) {
  List* parameters = parameter_expressions(call, family.arguments_from_rows());
  int count = list_length(parameters);
  if (exprType(static_cast<Node*>(llast(parameters))) == JSONBOID) --count;
  const auto most = static_cast<double>(ValueGrid::kDefaultCells);
  if (count < 2) return most;
  const auto lower = number_of_literal(static_cast<Node*>(list_nth(parameters, count - 2)));
  const auto upper = number_of_literal(static_cast<Node*>(list_nth(parameters, count - 1)));
  if (!lower || !upper || !(*lower < *upper) || !std::isfinite(*upper - *lower)) return most;
  std::optional<double> step;
  const Failure failure =
      guarded([&] { step = default_step(type_of_rows(call, family.family), *lower, *upper); });
  if (failure.sqlstate != 0 || !step) return most;
  return std::min(most, (*upper - *lower) / *step + 1);
}

double cells_of_state(const Aggref* call, const FamilyRow& family) {
  constexpr double kUsualBins = 1024;
  if (family.family == Family::kCdf) return kUsualBins;
  if (!family.has(Argument::kLower)) return std::numeric_limits<double>::infinity();
  return cells_between_bounds(call, family);
}

constexpr double kBytesOfRecord = 12;  // in a list that doubles

// As growing_histogram.hpp has them: lists, or counters with a batch of records.
double bytes_on_grid(double rows, double cells) {
  constexpr double kMostCounters = 1 << 22;
  constexpr double kBytesOfSmallCounter = 1.5;
  constexpr double kBytesOfCounter = 6;
  const bool has_small_counters = rows < cells && cells <= kMostCounters;
  return std::min(kBytesOfRecord * rows,
                  cells * (has_small_counters ? kBytesOfSmallCounter : kBytesOfCounter));
}

double bytes_of_state(const Aggref* call, const FamilyRow& family, double rows) {
  switch (family.kept) {
    case KeptOfRow::kNumber:
      return bytes_on_grid(rows, cells_of_state(call, family));
    case KeptOfRow::kOrdinal:
      return kBytesOfRecord * rows;
    case KeptOfRow::kUserRow:
      return 2 * sizeof(UserRow) * rows;
    case KeptOfRow::kBin:
    case KeptOfRow::kNothing:
    case KeptOfRow::kShiftedValue:
    case KeptOfRow::kSquare:
    case KeptOfRow::kPair:
    case KeptOfRow::kHash:
      return 0;
  }
  pg_unreachable();
}

}  // namespace

double bytes_of_states(const PathTarget* columns, double rows, double groups) {
  double bytes = 0;
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    const auto* column = static_cast<const Node*>(lfirst(cell));
    const FamilyRow* family = private_family(column);
    if (family == nullptr) continue;
    bytes += groups * bytes_of_state(as<Aggref>(column), *family, rows / groups);
  }
  return bytes;
}

}  // namespace dpquantile

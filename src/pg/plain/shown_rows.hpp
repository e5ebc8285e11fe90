#pragma once

#include <optional>

#include "pg/query/level.hpp"
#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/params.h"
#include "nodes/plannodes.h"
}

// How many rows a query of answers shows at most, as far as its text and the public lists of its
// keys tell. The answers decide only which of them it shows, so nothing here follows from rows.
namespace dpquantile {

// The mark of a plan of which this is known. A query that is asked before another one may show
// kMaxElements (pg/staged).
struct ShownRows {
  int most;

  static constexpr MarkKind kKind = {"dpquantile shown rows", 1};
  void each_field(MarkFields* fields) { fields->integer("most", &most); }
};

// How many rows a translated statement shows at most; more than kMaxElements need not be counted.
// Nothing where keys are chosen privately, or where a LIMIT is not known yet. `parameters`: those
// that are known, or null.
std::optional<int> most_shown_rows(const Statement* statement, ParamListInfo parameters);

}  // namespace dpquantile

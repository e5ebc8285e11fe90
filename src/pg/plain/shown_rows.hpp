#pragma once

#include "pg/query/level.hpp"
#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/params.h"
#include "nodes/plannodes.h"
}

// How many rows a query of answers shows at most, as far as its text and the public lists of its
// keys tell. The answers decide only which of them it shows, so nothing here follows from rows.
namespace dpquantile {

// The mark of a plan that may show more than kMaxElements rows. A query that is asked before
// another one may not (pg/staged).
struct ManyRows {
  bool is_known;  // so many keys have public lists; else nothing states how many rows there are

  static constexpr MarkKind kKind = {"dpquantile many rows", 1};
  void each_field(MarkFields* fields) { fields->truth("is_known", &is_known); }
};

// Whether a statement may, as it has been translated. `parameters`: those that are known, or null.
// A LIMIT that is not known yet counts as one of few rows.
bool may_show_many_rows(const Statement* statement, ParamListInfo parameters, ManyRows* many);

}  // namespace dpquantile

#pragma once

#include "pg/server/mark.hpp"

namespace dpquantile {

// The mark of a plan whose release nodes tell which answers are smaller than their errors
// (pg/release/error_notice.hpp): it answers standard aggregates, and shows no errors beside them.
struct NotedErrors {
  bool are_noted;

  static constexpr MarkKind kKind = {"dpquantile noted errors", 1};
  void each_field(MarkFields* fields) { fields->truth("are_noted", &are_noted); }
};

}  // namespace dpquantile

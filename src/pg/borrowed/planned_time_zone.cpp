#include "pg/borrowed/planned_time_zone.hpp"

#include "pg/server/mark.hpp"

extern "C" {
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

// The mark of such a plan.
struct PlannedTimeZone {
  const char* name;

  static constexpr MarkKind kKind = {"dpquantile time zone", 1};
  void each_field(MarkFields* fields) { fields->text("name", &name); }
};

const char* time_zone_of_session() {
  return GetConfigOption("TimeZone", false, false);
}

}  // namespace

void mark_time_zone(PlannedStmt* plan) {
  put_mark(&plan->rtable, PlannedTimeZone{time_zone_of_session()});
}

void require_time_zone(const PlannedStmt* plan) {
  PlannedTimeZone planned;
  if (!find_mark(plan->rtable, &planned)) return;
  if (strcmp(planned.name, time_zone_of_session()) == 0) return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the time zone has changed since the query was planned"),
           errdetail("The groups of the planned query are those of time zone %s.", planned.name),
           errhint("This call was not charged. Open the cursor again.")));
}

}  // namespace dpquantile

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
  const char* style;  // null: it does not matter

  static constexpr MarkKind kKind = {"dpquantile time zone", 2};
  void each_field(MarkFields* fields) {
    fields->text("name", &name);
    fields->text("style", &style);
  }
};

const char* setting_of_session(const char* name) {
  return GetConfigOption(name, false, false);
}

[[noreturn]] void refuse_plan(const char* setting, const char* planned) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the %s has changed since the query was planned", setting),
           errdetail("The groups of the planned query are those of %s %s.", setting, planned),
           errhint("This call was not charged. Open the cursor again.")));
}

}  // namespace

void mark_time_zone(PlannedStmt* plan, bool with_style) {
  put_mark(&plan->rtable, PlannedTimeZone{setting_of_session("TimeZone"),
                                          with_style ? setting_of_session("DateStyle") : nullptr});
}

void require_time_zone(const PlannedStmt* plan) {
  PlannedTimeZone planned;
  if (!find_mark(plan->rtable, &planned)) return;
  if (strcmp(planned.name, setting_of_session("TimeZone")) != 0) {
    refuse_plan("time zone", planned.name);
  }
  if (planned.style != nullptr && strcmp(planned.style, setting_of_session("DateStyle")) != 0) {
    refuse_plan("style of dates", planned.style);
  }
}

}  // namespace dpquantile

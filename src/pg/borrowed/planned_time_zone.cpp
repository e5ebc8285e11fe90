#include "pg/borrowed/planned_time_zone.hpp"

extern "C" {
#include "utils/guc.h"
#include "utils/plancache.h"
}

namespace dpquantile {

namespace {

bool depends = false;

const char* time_zone_of_session() {
  return GetConfigOption("TimeZone", false, false);
}

}  // namespace

void depend_on_time_zone() {
  depends = true;
}

bool forget_time_zone() {
  const bool noted = depends;
  depends = false;
  return noted;
}

void restore_time_zone(bool noted) {
  depends = noted;
}

const char* planned_time_zone() {
  return depends ? pstrdup(time_zone_of_session()) : nullptr;
}

void require_time_zone(const char* planned) {
  if (planned == nullptr || strcmp(planned, time_zone_of_session()) == 0) return;
  ResetPlanCache();
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("the time zone has changed since the query was planned"),
                  errdetail("Its groups are those of time zone %s.", planned),
                  errhint("This call was not charged. Ask again: it is planned anew.")));
}

}  // namespace dpquantile

#include "pg/distributed/reading_settings.hpp"

#include <climits>

#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

void set(const char* name, const char* value) {
  (void)set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

}  // namespace

int begin_reading_settings() {
  const int level = NewGUCNestLevel();
  set("DateStyle", "ISO");
  set("IntervalStyle", "postgres");
  set("extra_float_digits", "3");
  set("standard_conforming_strings", "on");
  set("work_mem", psprintf("%d", MAX_KILOBYTES));
  return level;
}

void end_reading_settings(int level) {
  AtEOXact_GUC(true, level);
}

}  // namespace dpquantile

#pragma once

// The settings of the session under which states are read. The caller of a function of another role
// chooses its own settings, which must not show what the states are.
namespace dpquantile {

// Until the matching call of end_reading_settings(), or until the (sub)transaction aborts:
// - Texts mean the same everywhere. Citus sends constants to the workers as texts, in the formats
//   of this session: a date as 01/02/2000 or a number with few digits, which the worker reads with
//   its own settings.
// - Nothing spills to disk, because everybody may see the bytes of temporary files
//   (pg_stat_database). So states and rows on the coordinator are in memory, however many.
// Returns what end_reading_settings() needs. Then the settings are again what they were before.
int begin_reading_settings();

void end_reading_settings(int level);

}  // namespace dpquantile

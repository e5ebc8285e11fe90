#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/guc.h"
}

// Whether messages below notice reach the client: plans, sizes of sorts and of temporary files,
// numbers of rows. The setting client_min_messages asks for them. PostgreSQL lets code lower it in
// ways that no check sees, also while a query runs: RESET, set_config(..., NULL), the end of a
// function with a SET clause. So the level by which PostgreSQL sends messages is not the setting
// itself here: it is at least notice while they are kept back, whatever the setting is.
namespace dpquantile {

// Separates the level from the setting, and gives the setting this check. Returns the one it had.
// Call it once, when the library is loaded.
GucEnumCheckHook separate_message_level(GucEnumCheckHook check);

// The value of client_min_messages.
int message_level_setting();

// Keeps low messages back from now on, or no longer.
void keep_low_messages_back(bool keeps);

enum class Withheld {
  kBelowNotice,
  kAllBelowError,  // also notices and warnings; PostgreSQL always sends a message of level INFO
};

// Keeps them back until the end, too. Pairs may be nested. An error must not skip the end.
void begin_without_messages(Withheld withheld);
void end_without_messages(Withheld withheld);

}  // namespace dpquantile

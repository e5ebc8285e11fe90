#include "pg/release/spill_limit.hpp"

extern "C" {
#include "miscadmin.h"
}

namespace dpquantile {

int begin_spill_limit() {
  const int usual = work_mem;
  uint32 drawn;
  if (!pg_strong_random(&drawn, sizeof(drawn))) {
    ereport(ERROR,
            (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the server gives no random numbers"),
             errhint("Nothing was read. Ask the person who runs the server to look at OpenSSL.")));
  }
  // The remainder favours some limits by less than one in two thousand.
  const int half = usual / 2;
  work_mem = usual - static_cast<int>(drawn % static_cast<uint32>(half + 1));
  return usual;
}

void end_spill_limit(int usual) {
  work_mem = usual;
}

}  // namespace dpquantile

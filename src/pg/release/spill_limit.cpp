#include "pg/release/spill_limit.hpp"

extern "C" {
#include "miscadmin.h"
}

namespace dpquantile {

int begin_spill_limit() {
  const int usual = work_mem;
  uint64 drawn;
  if (!pg_strong_random(&drawn, sizeof(drawn))) {
    ereport(ERROR,
            (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the server gives no random numbers"),
             errhint("Nothing was read. Ask the person who runs the server to look at OpenSSL.")));
  }
  // The remainder favours some limits by less than 2^-32 of their probability.
  const auto limits = static_cast<uint64>(usual / 2) + 1;
  work_mem = usual - static_cast<int>(drawn % limits);
  return usual;
}

void end_spill_limit(int usual) {
  work_mem = usual;
}

}  // namespace dpquantile

#include "pg/server/version.hpp"

namespace dpquantile {

static_assert(sizeof DPQ_VERSION > 1 && sizeof DPQ_VERSION <= kVersionBytes);

// In a file of its own: no other code is compiled with the value, so a test can change it in a copy
// of the library.
const char kLibraryVersion[kVersionBytes] = DPQ_VERSION;

}  // namespace dpquantile

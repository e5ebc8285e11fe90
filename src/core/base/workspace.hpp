#pragma once

#include <memory_resource>

#include "core/base/cancel.hpp"

namespace dpquantile {

// What a long computation needs from its caller: when to stop, and where its scratch memory comes
// from. Both must outlive the computation. It cannot draw noise.
struct Workspace {
  CancelPoll& cancel;
  std::pmr::memory_resource* memory;
};

}  // namespace dpquantile

#pragma once

#include <memory_resource>

#include "core/base/cancel.hpp"

namespace dpquantile {

// What a long computation needs from its caller: a poll that says when to stop, and the resource of
// its scratch memory. Both must outlive the computation. A Workspace alone cannot draw noise.
struct Workspace {
  CancelPoll& cancel;
  std::pmr::memory_resource* memory;
};

}  // namespace dpquantile

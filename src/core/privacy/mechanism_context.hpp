#pragma once

#include <memory_resource>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// What a mechanism needs from its caller: a Workspace, and the randomness for its noise. A function
// that takes only a Workspace cannot draw noise; a function that takes a MechanismContext may. The
// stream, the poll and the memory must outlive the context.
struct MechanismContext : Workspace {
  MechanismContext(RandomStream& stream, CancelPoll& poll, std::pmr::memory_resource* scratch)
      : Workspace{poll, scratch}, random(stream) {}

  RandomStream& random;
};

}  // namespace dpquantile

#pragma once

#include <memory_resource>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// What a mechanism needs from its caller: a Workspace, and the randomness of its noise. A function
// that takes a Workspace cannot draw noise; one that takes a MechanismContext may.
struct MechanismContext : Workspace {
  MechanismContext(RandomStream& stream, CancelPoll& poll, std::pmr::memory_resource* scratch)
      : Workspace{poll, scratch}, random(stream) {}

  RandomStream& random;
};

}  // namespace dpquantile

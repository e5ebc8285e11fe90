#pragma once

#include <memory_resource>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/privacy/privacy_cost.hpp"
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

// A prepared mechanism: its public parameters are checked, its plan is made and its costs are known
// before it sees data. Mechanisms with a plan derive from this class and draw releases.
class Mechanism {
 public:
  explicit Mechanism(const ReleaseCosts& costs) : costs_(costs) {}
  virtual ~Mechanism() = default;
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;

  const ReleaseCosts& costs() const { return costs_; }
  const PrivacyCost& cost() const { return costs_.own; }

 private:
  ReleaseCosts costs_;
};

}  // namespace dpquantile

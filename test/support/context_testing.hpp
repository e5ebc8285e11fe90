#pragma once

#include <memory_resource>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/random.hpp"

// What the code under test needs from its caller. By default memory comes from the heap, nobody
// cancels, and noise is from the CSPRNG.
namespace dpquantile::test {

inline std::pmr::memory_resource* heap() {
  return std::pmr::new_delete_resource();
}

// The parts to which the two below refer.
struct OwnPoll {
  CancelPoll poll;
};
struct OwnRandomness {
  OwnRandomness() : stream(csprng) {}
  explicit OwnRandomness(RandomSource& source) : stream(source) {}

  CsprngSource csprng;
  RandomStream stream;
};

class TestWorkspace : private OwnPoll, public Workspace {
 public:
  explicit TestWorkspace(CancelPoll::Predicate requested = nullptr,
                         std::pmr::memory_resource* scratch = heap())
      : OwnPoll{CancelPoll(requested)}, Workspace{poll, scratch} {}
  TestWorkspace(const TestWorkspace&) = delete;
  TestWorkspace& operator=(const TestWorkspace&) = delete;
};

class TestContext : private OwnPoll, private OwnRandomness, public MechanismContext {
 public:
  TestContext() : OwnPoll{CancelPoll(nullptr)}, MechanismContext(stream, poll, heap()) {}
  // The source must outlive this.
  explicit TestContext(RandomSource& source, CancelPoll::Predicate requested = nullptr,
                       std::pmr::memory_resource* scratch = heap())
      : OwnPoll{CancelPoll(requested)},
        OwnRandomness(source),
        MechanismContext(stream, poll, scratch) {}

  // The same with scratch memory from elsewhere.
  MechanismContext with(std::pmr::memory_resource* scratch) const {
    return {random, cancel, scratch};
  }
};

}  // namespace dpquantile::test

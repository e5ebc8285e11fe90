#pragma once

#include <exception>
#include <memory_resource>
#include <new>

#include "core/base/argument.hpp"
#include "core/base/cancel.hpp"
#include "core/base/error.hpp"
#include "pg/server/postgres.hpp"

// The boundary between PostgreSQL (errors by longjmp) and core (errors by exception). Each call
// from src/pg into core has three phases:
//   1. PostgreSQL: read and check arguments, palloc; only trivially destructible locals.
//   2. C++: the body that guarded() runs; nothing in it may ereport.
//   3. PostgreSQL: report() the failure, if any, or go on.
namespace dpquantile {

// The error of phase 2, as plain data that a longjmp may cross.
struct Failure {
  int sqlstate;  // 0: nothing failed
  char message[512];
  char hint[256];
  Argument argument;  // that of a ParameterError
};

// Describes the current exception: its SQLSTATE by its class (core/base/error.hpp), its message,
// and a hint or an empty one. Longer texts are cut. Call it in a catch block.
Failure describe_current_exception() noexcept;

// Runs body, which must not ereport, and turns any exception into a Failure. Never throws.
template <typename Body>
Failure guarded(Body body) noexcept {
  try {
    body();
    return Failure{};
  } catch (...) {
    return describe_current_exception();
  }
}

// ereports the failure as an ERROR; returns if there is none.
void report(const Failure& failure);

// Whether a cancel, a timeout or a termination of the session is pending and may be handled now.
// Never ereports, so core may poll it (core/base/cancel.hpp).
bool cancel_requested();

// Gives core memory from a PostgreSQL memory context, which accounts for it and frees it at the
// latest when the context is reset. Any alignment. Throws std::bad_alloc; never ereports.
class ContextMemory final : public std::pmr::memory_resource {
 public:
  explicit ContextMemory(MemoryContext context) : context_(context) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  MemoryContext context_;
};

// Phases 2 and 3 with scratch memory: calls body(ContextMemory&) as guarded() does, ereports a
// failure, and frees the memory.
template <class Body>
void with_scratch(Body body) {
  MemoryContext scratch =
      AllocSetContextCreate(CurrentMemoryContext, "dpquantile scratch", ALLOCSET_DEFAULT_SIZES);
  // Not a variable: GCC 16 supposes that its memory may be another resource, and warns that a
  // variable is too small for that.
  auto* memory = new (MemoryContextAlloc(scratch, sizeof(ContextMemory))) ContextMemory(scratch);
  const Failure failure = guarded([&] { body(*memory); });
  report(failure);
  MemoryContextDelete(scratch);
}

}  // namespace dpquantile

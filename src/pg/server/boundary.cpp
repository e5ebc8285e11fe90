#include "pg/server/boundary.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

namespace dpquantile {

namespace {

void copy_text(char* to, std::size_t size, const char* from) {
  const std::size_t length = std::min(std::strlen(from), size - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

Failure failure(int sqlstate, const char* message, const char* hint,
                Argument argument = Argument::kNone) noexcept {
  Failure described{};
  described.sqlstate = sqlstate;
  copy_text(described.message, sizeof described.message, message);
  copy_text(described.hint, sizeof described.hint, hint);
  described.argument = argument;
  return described;
}

}  // namespace

Failure describe_current_exception() noexcept {
  try {
    throw;
  } catch (const ParameterError& error) {
    return failure(ERRCODE_INVALID_PARAMETER_VALUE, error.what(), error.hint().c_str(),
                   error.argument());
  } catch (const CorruptInput& error) {
    return failure(ERRCODE_INVALID_BINARY_REPRESENTATION, error.what(), "");
  } catch (const Cancelled&) {
    return failure(ERRCODE_QUERY_CANCELED, "canceling statement due to user request", "");
  } catch (const RandomnessUnavailable& error) {
    return failure(ERRCODE_SYSTEM_ERROR, error.what(),
                   "Nothing was released. The operating system or OpenSSL gave no randomness.");
  } catch (const TooManyRows& error) {
    return failure(ERRCODE_PROGRAM_LIMIT_EXCEEDED, error.what(),
                   "Aggregate fewer rows, or use more groups.");
  } catch (const std::length_error& error) {
    return failure(ERRCODE_PROGRAM_LIMIT_EXCEEDED, error.what(), "");
  } catch (const std::bad_alloc&) {
    return failure(ERRCODE_OUT_OF_MEMORY, "out of memory", "");
  } catch (const std::exception& error) {
    return failure(ERRCODE_INTERNAL_ERROR, error.what(), "");
  } catch (...) {
    return failure(ERRCODE_INTERNAL_ERROR, "unknown C++ exception", "");
  }
}

void report(const Failure& failure) {
  if (failure.sqlstate == 0) return;
  // PostgreSQL has its own messages for a cancel, a timeout and a termination.
  if (failure.sqlstate == ERRCODE_QUERY_CANCELED) CHECK_FOR_INTERRUPTS();
  ereport(ERROR, (errcode(failure.sqlstate), errmsg("%s", failure.message),
                  failure.hint[0] != '\0' ? errhint("%s", failure.hint) : 0));
}

bool cancel_requested() {
  return InterruptPending && (QueryCancelPending || ProcDiePending) && InterruptHoldoffCount == 0;
}

// PostgreSQL aligns to MAXIMUM_ALIGNOF only. For a larger alignment the block is padded, and the
// pointer just before the aligned part keeps its start for pfree.
void* ContextMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  const bool padded = alignment > MAXIMUM_ALIGNOF;
  const std::size_t padding = padded ? alignment + sizeof(void*) : 0;
  if (bytes > MaxAllocHugeSize - padding) throw std::bad_alloc();
  void* block =
      MemoryContextAllocExtended(context_, bytes + padding, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
  if (block == nullptr) throw std::bad_alloc();
  if (!padded) return block;
  const auto start = reinterpret_cast<std::uintptr_t>(block) + sizeof(void*);
  void** aligned = reinterpret_cast<void**>((start + alignment - 1) / alignment * alignment);
  aligned[-1] = block;
  return aligned;
}

void ContextMemory::do_deallocate(void* memory, std::size_t, std::size_t alignment) {
  pfree(alignment > MAXIMUM_ALIGNOF ? static_cast<void**>(memory)[-1] : memory);
}

}  // namespace dpquantile

#include "pg/server/work_memory.hpp"

#include <utility>

namespace dpquantile {

namespace {

Size replaced_memory = 0;  // 0: nothing stands in its place

}  // namespace

Size session_memory() {
  return session_memory_is_replaced() ? replaced_memory : get_hash_memory_limit();
}

bool session_memory_is_replaced() {
  return replaced_memory != 0;
}

Size replace_session_memory(Size memory) {
  return std::exchange(replaced_memory, memory);
}

}  // namespace dpquantile

#include "pg/server/query_random.hpp"

#include <memory>
#include <new>

#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

struct QueryRandom {
  CsprngSource source;
  RandomStream stream{source};
};

void wipe(void* random) {
  std::destroy_at(static_cast<QueryRandom*>(random));
}

}  // namespace

RandomStream* make_query_random(MemoryContext query_context) {
  void* memory = MemoryContextAlloc(query_context, sizeof(QueryRandom));
  auto* callback = static_cast<MemoryContextCallback*>(
      MemoryContextAlloc(query_context, sizeof(MemoryContextCallback)));
  QueryRandom* random = nullptr;
  report(guarded([&] { random = new (memory) QueryRandom; }));
  callback->func = wipe;
  callback->arg = random;
  MemoryContextRegisterResetCallback(query_context, callback);
  return &random->stream;
}

uint64 draw_number() {
  uint64 drawn = 0;
  report(guarded([&] {
    static QueryRandom random;
    drawn = random.stream.bits64();
  }));
  return drawn;
}

}  // namespace dpquantile

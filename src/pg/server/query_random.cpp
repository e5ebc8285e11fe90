#include "pg/server/query_random.hpp"

#include <array>
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
  constexpr std::size_t kDrawn = 64;
  static std::array<uint64, kDrawn> drawn;
  static std::size_t left = 0;
  if (left == 0) {
    if (!pg_strong_random(drawn.data(), sizeof drawn)) {
      ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the server gives no random numbers"),
                      errhint("Ask the person who runs the server to look at OpenSSL.")));
    }
    left = kDrawn;
  }
  return drawn[--left];
}

}  // namespace dpquantile

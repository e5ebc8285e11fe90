#include "pg/release/spill_limit.hpp"

#include <algorithm>
#include <bit>

#include "pg/server/plan_children.hpp"

extern "C" {
#include "commands/tablespace.h"
#include "miscadmin.h"
}

namespace dpquantile {

namespace {

constexpr uint64 kKilobyte = 1024;
constexpr uint64 kLeastMemory = 4096 * kKilobyte;
// PostgreSQL allocates the buckets as one block of less than 1 GB.
constexpr uint64 kMostBuckets = 1 << 26;
constexpr uint64 kLeastPerBucket = 24;
constexpr uint64 kMostPerBucket = 40;
constexpr double kMemoryOfHashTables = 1000;  // the most that PostgreSQL allows

uint64 buckets_of_session() {
  const double memory = static_cast<double>(work_mem) * hash_mem_multiplier * kKilobyte;
  const uint64 bytes = memory < static_cast<double>(kMostBuckets * kMostPerBucket)
                           ? std::max(static_cast<uint64>(memory), kLeastMemory)
                           : kMostBuckets * kMostPerBucket;
  return std::bit_floor(bytes / kMostPerBucket);
}

uint64 draw_bytes(uint64 buckets) {
  uint64 drawn;
  if (!pg_strong_random(&drawn, sizeof(drawn))) {
    ereport(ERROR,
            (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the server gives no random numbers"),
             errhint("Nothing was read. Ask the person who runs the server to look at OpenSSL.")));
  }
  // The range is a power of 2, so no limit is favoured.
  return kLeastPerBucket * buckets + drawn % ((kMostPerBucket - kLeastPerBucket) * buckets);
}

// For visit_children(). PostgreSQL takes as many buckets as rows are expected, rounded up to a
// power of 2. A skew table would compare values of the statistics.
void give_buckets(Plan** place, void* buckets) {
  Plan* node = *place;
  if (IsA(node, Hash) && node->lefttree != nullptr) {
    reinterpret_cast<Hash*>(node)->skewTable = InvalidOid;
    node->lefttree->plan_rows = static_cast<double>(*static_cast<const uint64*>(buckets) / 2 + 1);
    node->lefttree->plan_width = 0;
  }
  visit_children(node, give_buckets, buckets);
}

}  // namespace

SessionMemory begin_spill_limit(PlannedStmt* plan) {
  // This and the draw may fail, while the settings are still the session's.
  PrepareTempTablespaces();
  const SessionMemory usual = {work_mem, hash_mem_multiplier};
  uint64 buckets = buckets_of_session();
  const uint64 bytes = draw_bytes(buckets);
  work_mem = static_cast<int>(bytes / kKilobyte);
  hash_mem_multiplier = kMemoryOfHashTables;
  if (plan != nullptr) visit_trees(plan, give_buckets, &buckets);
  return usual;
}

void end_spill_limit(const SessionMemory& usual) {
  work_mem = usual.work_mem;
  hash_mem_multiplier = usual.hash_mem_multiplier;
}

}  // namespace dpquantile

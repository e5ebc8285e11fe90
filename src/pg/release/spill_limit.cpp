#include "pg/release/spill_limit.hpp"

#include <algorithm>
#include <bit>

#include "pg/server/nodes.hpp"
#include "pg/server/plan_children.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/work_memory.hpp"

extern "C" {
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

constexpr uint64 kKilobyte = 1024;
constexpr uint64 kLeastMemory = 4096 * kKilobyte;
// PostgreSQL allocates the buckets as one block of less than 1 GB.
constexpr uint64 kMostBuckets = 1 << 26;
constexpr uint64 kLeastPerBucket = 24;
constexpr uint64 kMostPerBucket = 40;
constexpr char kMemoryOfHashTables[] = "1000";  // the most that PostgreSQL allows

uint64 buckets_of_session() {
  const uint64 bytes =
      std::clamp<uint64>(session_memory(), kLeastMemory, kMostBuckets * kMostPerBucket);
  return std::bit_floor(bytes / kMostPerBucket);
}

uint64 draw_bytes(uint64 buckets) {
  // The range is a power of 2, so no limit is favoured.
  return kLeastPerBucket * buckets + draw_number() % ((kMostPerBucket - kLeastPerBucket) * buckets);
}

// For visit_children(). PostgreSQL takes as many buckets as rows are expected, rounded up to a
// power of 2. A skew table would compare values of the statistics.
void give_buckets(Plan** place, void* buckets) {
  Plan* node = *place;
  if (IsA(node, Hash) && node->lefttree != nullptr) {
    as<Hash>(node)->skewTable = InvalidOid;
    node->lefttree->plan_rows = static_cast<double>(*static_cast<const uint64*>(buckets) / 2 + 1);
    node->lefttree->plan_width = 0;
  }
  visit_children(node, give_buckets, buckets);
}

// Until the end of the limit that began last.
void set_within_limit(const char* setting, const char* value) {
  (void)set_config_option(setting, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                          false);
}

}  // namespace

SpillLimit begin_spill_limit(PlannedStmt* plan) {
  PrepareTempTablespaces();
  const Size memory = session_memory();
  uint64 buckets = buckets_of_session();
  const uint64 kilobytes = draw_bytes(buckets) / kKilobyte * kPartsOfWorkMemory;
  const int level = NewGUCNestLevel();
  set_within_limit("work_mem", psprintf(UINT64_FORMAT, kilobytes));
  set_within_limit("hash_mem_multiplier", kMemoryOfHashTables);
  if (plan != nullptr) {
    set_within_limit("synchronize_seqscans", "off");
    visit_trees(plan, give_buckets, &buckets);
  }
  return {level, replace_session_memory(memory)};
}

void end_spill_limit(const SpillLimit& limit) {
  AtEOXact_GUC(true, limit.level);
  replace_session_memory(limit.memory_before);
}

}  // namespace dpquantile

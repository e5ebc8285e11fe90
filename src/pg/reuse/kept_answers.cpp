#include "pg/reuse/kept_answers.hpp"

#include <algorithm>

#include "pg/reuse/catalog_version.hpp"

extern "C" {
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

constexpr const char* kName = "dpquantile kept answers";
constexpr Size kBlockBytes = 1024;
constexpr int kNoBlock = -1;
// One role's answer must not push out those of many others.
constexpr int kLargestShare = 16;
constexpr int kDefaultKilobytes = 4096;
constexpr int kLeastKilobytes = 64;
constexpr int kMostKilobytes = 256 * 1024;  // answers are searched one by one

int memory_kilobytes = kDefaultKilobytes;

struct Entry {
  bool is_used;
  AnswerKey key;
  Oid database;
  Oid role;
  uint64 role_version;
  Oid relations[kRelationsOfAnswer];
  int64 first_charge;
  int charges;
  int64 reuses;
  TimestampTz kept_at;
  Size size;
  int first_block;
};

// An answer's bytes are in a chain of blocks. Behind it: an Entry for each block, the number of the
// next block for each block, and the blocks.
struct Store {
  LWLock* lock;
  int blocks;
  int entries_end;  // no entry from here on was ever used
  int free_block;
  int free_blocks;
  uint64 forgettings;  // how often answers were forgotten on demand
};

Store* store = nullptr;
// When this session began its execution
uint64 forgettings_seen = 0;
Entry* entries = nullptr;
int* next_blocks = nullptr;
char* block_bytes = nullptr;

shmem_request_hook_type next_shmem_request_hook = nullptr;
shmem_startup_hook_type next_shmem_startup_hook = nullptr;

int wanted_blocks() {
  return static_cast<int>(static_cast<Size>(memory_kilobytes) * 1024 / kBlockBytes);
}

Size store_bytes(int blocks) {
  const auto count = static_cast<Size>(blocks);
  return MAXALIGN(sizeof(Store)) + MAXALIGN(count * sizeof(Entry)) + MAXALIGN(count * sizeof(int)) +
         count * kBlockBytes;
}

void request_shared_memory() {
  if (next_shmem_request_hook != nullptr) next_shmem_request_hook();
  RequestAddinShmemSpace(store_bytes(wanted_blocks()));
  RequestNamedLWLockTranche(kName, 1);
}

void find_parts() {
  const auto count = static_cast<Size>(store->blocks);
  char* part = reinterpret_cast<char*>(store) + MAXALIGN(sizeof(Store));
  entries = reinterpret_cast<Entry*>(part);
  part += MAXALIGN(count * sizeof(Entry));
  next_blocks = reinterpret_cast<int*>(part);
  block_bytes = part + MAXALIGN(count * sizeof(int));
}

void make_empty() {
  for (int i = 0; i < store->blocks; ++i) {
    entries[i] = {};
    next_blocks[i] = i + 1 < store->blocks ? i + 1 : kNoBlock;
  }
  store->free_block = 0;
  store->free_blocks = store->blocks;
}

// Also runs when the server restarts after a crash. The shared memory is empty then.
void start_store() {
  if (next_shmem_startup_hook != nullptr) next_shmem_startup_hook();
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  store = static_cast<Store*>(ShmemInitStruct(kName, store_bytes(wanted_blocks()), &found));
  if (!found) {
    store->lock = &GetNamedLWLockTranche(kName)->lock;
    store->blocks = wanted_blocks();
  }
  find_parts();
  if (!found) make_empty();
  LWLockRelease(AddinShmemInitLock);
}

// ---- Under the lock ------------------------------------------------------------------------

int blocks_of(Size size) {
  return static_cast<int>((size + kBlockBytes - 1) / kBlockBytes);
}

Entry* find_entry(const AnswerKey& key) {
  for (int i = 0; i < store->entries_end; ++i) {
    Entry& entry = entries[i];
    if (entry.is_used && entry.key == key && entry.database == MyDatabaseId &&
        entry.role == GetOuterUserId()) {
      return &entry;
    }
  }
  return nullptr;
}

void forget(Entry* entry) {
  int block = entry->first_block;
  while (block != kNoBlock) {
    const int next = next_blocks[block];
    next_blocks[block] = store->free_block;
    store->free_block = block;
    ++store->free_blocks;
    block = next;
  }
  entry->is_used = false;
}

// An answer has at least one block, so a free block comes with a free entry.
Entry* free_entry() {
  for (int i = 0; i < store->entries_end; ++i) {
    if (!entries[i].is_used) return &entries[i];
  }
  return &entries[store->entries_end++];
}

Entry* oldest_entry() {
  Entry* oldest = nullptr;
  for (int i = 0; i < store->entries_end; ++i) {
    Entry& entry = entries[i];
    if (entry.is_used && (oldest == nullptr || entry.kept_at < oldest->kept_at)) oldest = &entry;
  }
  return oldest;
}

void make_room(int blocks) {
  while (store->free_blocks < blocks) {
    Entry* oldest = oldest_entry();
    if (oldest == nullptr) return;
    forget(oldest);
  }
}

int take_block() {
  const int block = store->free_block;
  store->free_block = next_blocks[block];
  --store->free_blocks;
  next_blocks[block] = kNoBlock;
  return block;
}

char* bytes_of_block(int block) {
  return block_bytes + static_cast<Size>(block) * kBlockBytes;
}

void write_bytes(Entry* entry, KeptAnswers answers) {
  int* link = &entry->first_block;
  for (Size done = 0; done < answers.size; done += kBlockBytes) {
    *link = take_block();
    memcpy(bytes_of_block(*link), answers.bytes + done, std::min(kBlockBytes, answers.size - done));
    link = &next_blocks[*link];
  }
}

void read_bytes(const Entry* entry, char* bytes) {
  int block = entry->first_block;
  for (Size done = 0; done < entry->size; done += kBlockBytes) {
    memcpy(bytes + done, bytes_of_block(block), std::min(kBlockBytes, entry->size - done));
    block = next_blocks[block];
  }
}

bool reads(const Entry& entry, Oid relation) {
  return std::find(entry.relations, entry.relations + kRelationsOfAnswer, relation) !=
         entry.relations + kRelationsOfAnswer;
}

}  // namespace

void install_kept_answers() {
  const bool is_preloaded = process_shared_preload_libraries_in_progress;
  // PostgreSQL takes settings of the server's start only from libraries that are preloaded. In
  // others the value has no effect.
  DefineCustomIntVariable(
      "dpquantile.kept_answers_memory", "Memory for the answers that are kept for reuse.",
      "See dp_grant_private_access(..., reuse).", &memory_kilobytes, kDefaultKilobytes,
      kLeastKilobytes, kMostKilobytes, is_preloaded ? PGC_POSTMASTER : PGC_SIGHUP, GUC_UNIT_KB,
      nullptr, nullptr, nullptr);
  if (!is_preloaded) return;
  install_secret_hash();
  next_shmem_request_hook = shmem_request_hook;
  shmem_request_hook = request_shared_memory;
  next_shmem_startup_hook = shmem_startup_hook;
  shmem_startup_hook = start_store;
}

Size most_kept_bytes() {
  return store == nullptr ? 0 : static_cast<Size>(store->blocks / kLargestShare) * kBlockBytes;
}

void begin_to_keep_answers() {
  if (store == nullptr) return;
  LWLockAcquire(store->lock, LW_SHARED);
  forgettings_seen = store->forgettings;
  LWLockRelease(store->lock);
}

KeptAnswers find_kept_answers(const AnswerKey& key, int64 most_age) {
  KeptAnswers found{};
  if (store == nullptr) return found;
  const TimestampTz now = GetCurrentTimestamp();
  Size room = 0;
  for (;;) {
    if (room > 0) found.bytes = static_cast<char*>(palloc(room));
    LWLockAcquire(store->lock, LW_EXCLUSIVE);
    Entry* entry = find_entry(key);
    const bool is_fresh = entry != nullptr && now - entry->kept_at <= most_age;
    const Size size = is_fresh ? entry->size : 0;
    if (size > 0 && size <= room) {
      read_bytes(entry, found.bytes);
      found.size = size;
      ++entry->reuses;
    }
    LWLockRelease(store->lock);
    if (size <= room) return found.size > 0 ? found : KeptAnswers{};
    room = size;
  }
}

void keep_answers(const AnswerKey& key, const AnswerOrigin& origin, KeptAnswers answers) {
  if (store == nullptr || answers.size == 0 || answers.size > most_kept_bytes()) return;
  if (list_length(origin.relations) > kRelationsOfAnswer) return;
  const uint64 role_version = version_of(AUTHOID, GetOuterUserId());
  LWLockAcquire(store->lock, LW_EXCLUSIVE);
  // The rows may have been read before the answers were forgotten.
  if (store->forgettings != forgettings_seen) {
    LWLockRelease(store->lock);
    return;
  }
  if (Entry* earlier = find_entry(key)) forget(earlier);
  make_room(blocks_of(answers.size));
  Entry* entry = free_entry();
  *entry = {};
  entry->is_used = true;
  entry->key = key;
  entry->database = MyDatabaseId;
  entry->role = GetOuterUserId();
  entry->role_version = role_version;
  for (int i = 0; i < list_length(origin.relations); ++i) {
    entry->relations[i] = list_nth_oid(origin.relations, i);
  }
  entry->first_charge = origin.first_charge;
  entry->charges = origin.charges;
  entry->kept_at = GetCurrentTimestamp();
  entry->size = answers.size;
  write_bytes(entry, answers);
  LWLockRelease(store->lock);
}

int forget_kept_answers(Oid relation) {
  int count = 0;
  if (store == nullptr) return count;
  LWLockAcquire(store->lock, LW_EXCLUSIVE);
  ++store->forgettings;
  for (int i = 0; i < store->entries_end; ++i) {
    Entry& entry = entries[i];
    if (!entry.is_used || entry.database != MyDatabaseId || !reads(entry, relation)) continue;
    forget(&entry);
    ++count;
  }
  LWLockRelease(store->lock);
  return count;
}

KeptAnswer* list_kept_answers(int* count) {
  *count = 0;
  if (store == nullptr) return nullptr;
  auto* answers =
      static_cast<KeptAnswer*>(palloc(sizeof(KeptAnswer) * static_cast<Size>(store->blocks)));
  LWLockAcquire(store->lock, LW_SHARED);
  for (int i = 0; i < store->entries_end; ++i) {
    const Entry& entry = entries[i];
    if (!entry.is_used || entry.database != MyDatabaseId) continue;
    answers[(*count)++] = {entry.role, entry.role_version, entry.first_charge, entry.charges,
                           entry.reuses};
  }
  LWLockRelease(store->lock);
  int kept = 0;
  for (int i = 0; i < *count; ++i) {
    const bool is_same_role = version_of(AUTHOID, answers[i].role) == answers[i].role_version;
    if (is_same_role) answers[kept++] = answers[i];
  }
  *count = kept;
  return answers;
}

}  // namespace dpquantile

#include "pg/state/expanded_records.hpp"

#include <algorithm>
#include <new>

#include "pg/server/aligned_memory.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/version.hpp"

namespace dpquantile {

namespace {

// The records as runs. The reference is valid until records are added or another group of the pool
// is encoded. May throw.
const CellRuns& encode(ExpandedRecords* records) {
  CancelPoll cancel(cancel_requested);
  if (records->many != nullptr) {
    GrowingHistogram* all = records->all_of_many(cancel);
    all->encode(cancel);
    return all->encoded();
  }
  GroupPool* pool = records->pool;
  if (pool->flattened != records || pool->runs.records() != records->few.total()) {
    pool->runs = records->few.encode(pool->grid.cells, {cancel, &pool->memory});
    pool->flattened = records;
  }
  return pool->runs;
}

void release_encoded(ExpandedRecords* records) {
  if (records->many != nullptr) return records->many->release_encoded();
  records->pool->runs = CellRuns(&records->pool->memory);
  records->pool->flattened = nullptr;
}

void flatten_hashes(const ExpandedRecords* records, RecordsState* state) {
  init_hashes(state, records->pool->parameters, records->hashes->size());
  with_scratch([&](ContextMemory& memory) {
    const auto sorted = records->hashes->sorted(&memory);
    memcpy(state->records(), sorted.data(), sorted.size() * sizeof(uint64));
  });
}

Size flat_size(ExpandedObjectHeader* header) {
  ExpandedRecords* records = records_of(header);
  if (records->hashes != nullptr) {
    return hashes_state_size(records->pool->parameters, records->hashes->size());
  }
  std::size_t bytes = 0;
  report(guarded([&] { bytes = encode(records).bytes(); }));
  return runs_state_size(records->pool->parameters, bytes);
}

void copy_runs(const CellRuns& runs, RecordsState* state) {
  uint8* to = state->runs().data();
  for (std::size_t i = 0; i < runs.blocks(); ++i) {
    const std::span<const uint8> block = runs.block(i);
    memcpy(to, block.data(), block.size());
    to += block.size();
  }
}

// PostgreSQL calls flat_size first, but it may ask for the sizes of other groups in between, so
// this may have to encode again.
void flatten_into(ExpandedObjectHeader* header, void* result, Size) {
  ExpandedRecords* records = records_of(header);
  if (records->hashes != nullptr) {
    return flatten_hashes(records, static_cast<RecordsState*>(result));
  }
  const CellRuns* runs = nullptr;
  report(guarded([&] { runs = &encode(records); }));
  auto* state = static_cast<RecordsState*>(result);
  init_runs(state, records->pool->parameters, static_cast<uint32>(runs->records()), runs->bytes());
  copy_runs(*runs, state);
  release_encoded(records);
}

constexpr ExpandedObjectMethods kMethods = {flat_size, flatten_into};

CellRunsReader reader_of(RecordsState* state) {
  return CellRunsReader(state->runs());
}

void add_runs(ExpandedRecords* into, RecordsState* from, CancelPoll& cancel) {
  if (into->many == nullptr && from->count > CellChunks::kMostCells) into->become_many(cancel);
  if (into->many != nullptr) return into->many->add(reader_of(from), from->count, cancel);
  CellRunsReader runs = reader_of(from);
  for (CellRun run; runs.next(run);) {
    for (uint32 i = 0; i < run.count; ++i) into->add(run.cell, cancel);
  }
}

void add_expanded(ExpandedRecords* into, const ExpandedRecords* from, CancelPoll& cancel) {
  if (from->many != nullptr) {
    if (into->many == nullptr) into->become_many(cancel);
    into->many->add(*from->many, cancel);
    return into->many->add(from->few.latest(), cancel);
  }
  for (const uint32 cell : from->few.list(&into->pool->memory)) into->add(cell, cancel);
}

void add_hashes(DistinctHashes* into, StateRef from, CancelPoll& cancel) {
  if (from.expanded != nullptr) return into->add(*from.expanded->hashes);
  for (uint32 i = 0; i < from.flat->count; ++i) {
    cancel.tick();
    into->add(from.flat->hashes()[i]);
  }
}

void require_own_state(const RecordsState* state) {
  if (likely(state->library == kLibraryMark)) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the state was made by the library of another version of %s", kExtension),
                  errdetail("The library of this process has version %s.", kLibraryVersion),
                  errhint("Reconnect, so that the session and its parallel workers load the same "
                          "library.")));
}

// How many rows are in sums.
uint64 summed_rows(RecordsState* state) {
  if (state->kind == RecordKind::kSums) return state->sums()->count;
  return state->kind == RecordKind::kPairs ? state->pairs()->count : 0;
}

void require_summable_rows(RecordsState* state) {
  if (summed_rows(state) <= kMostSummedRows) return;
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("a private aggregate takes at most " UINT64_FORMAT " rows in one group",
                         kMostSummedRows),
                  errhint("Aggregate fewer rows, or use more groups.")));
}

}  // namespace

GroupPool* make_group_pool(const AggregateParameters* parameters, MemoryContext groups) {
  MemoryContext context =
      AllocSetContextCreate(groups, "dpquantile records", ALLOCSET_START_SMALL_SIZES);
  const std::size_t size = size_of(parameters);
  auto* copy = static_cast<AggregateParameters*>(MemoryContextAlloc(context, size));
  memcpy(copy, parameters, size);
  void* memory = MemoryContextAlloc(context, sizeof(GroupPool));
  const uint64 drawn = draw_number();
  // No destructor needs to run: all memory that the pool owns is in the context.
  GroupPool* pool = nullptr;
  report(guarded([&] {
    const ValueGrid grid = copy->has_grid ? copy->grid : ValueGrid{};
    pool = new (memory) GroupPool{grid, copy, context, ContextMemory(context), drawn};
  }));
  return pool;
}

// The object's context is that of the pool, which all its groups share. The executor keeps an
// expanded object without a copy if the object's context is a child of the context of the groups.
// If a state replaced the object, the executor would delete the object's context and with it all
// groups of the pool; no function of this extension does that.
ExpandedRecords* make_expanded(GroupPool* pool) {
  MemoryContext groups = MemoryContextGetParent(pool->context);
  auto* records = new (allocate_at_cache_line(groups, sizeof(ExpandedRecords))) ExpandedRecords;
  EOH_init_header(&records->header, &kMethods, pool->context);
  memcpy(records->read_write_pointer, records->header.eoh_rw_ptr, EXPANDED_POINTER_SIZE);
  records->pool = pool;
  records->many = nullptr;
  records->hashes = nullptr;
  if (method_of(pool->parameters).records == RecordKind::kHashes) {
    void* memory = MemoryContextAlloc(pool->context, sizeof(DistinctHashes));
    report(guarded([&] { records->hashes = new (memory) DistinctHashes(&pool->memory); }));
  }
  return records;
}

void ExpandedRecords::become_many(CancelPoll& cancel) {
  if (many != nullptr) {
    many->add(few.latest(), cancel);
  } else {
    void* memory = pool->memory.allocate(sizeof(GrowingHistogram), alignof(GrowingHistogram));
    many = new (memory) GrowingHistogram(pool->grid.cells, &pool->memory, pool->drawn);
    many->add(std::span<const uint32>(few.list(&pool->memory)), cancel);
  }
  few.clear(pool->bundles);
}

// A row then needs one cache line of a group of many records, too, and not also the end of a list.
void ExpandedRecords::make_room(CancelPoll& cancel) {
  if (many == nullptr && few.total() < CellChunks::kMostCells) {
    few.make_room(pool->bundles);
  } else {
    become_many(cancel);
  }
}

void ExpandedRecords::add(uint32 cell, CancelPoll& cancel) {
  if (few.full()) make_room(cancel);
  few.add(cell);
}

void ExpandedRecords::make_room() {
  if (many != nullptr && many->room() >= CellChunks::kChunk) {
    many->add(few.latest().first<CellChunks::kChunk>());
    return few.clear(pool->bundles);
  }
  report(guarded([&] {
    CancelPoll cancel(cancel_requested);
    make_room(cancel);
  }));
}

StateRef get_state(Datum datum) {
  const void* state = DatumGetPointer(datum);
  if (VARATT_IS_EXTERNAL_EXPANDED(state)) {
    Assert(get_expanded(state)->header.eoh_methods == &kMethods);
    return {nullptr, get_expanded(state)};
  }
  auto* flat = reinterpret_cast<RecordsState*>(PG_DETOAST_DATUM(datum));
  require_own_state(flat);
  require_summable_rows(flat);
  return {flat, nullptr};
}

void add_all(ExpandedRecords* into, StateRef from) {
  report(guarded([&] {
    CancelPoll cancel(cancel_requested);
    if (into->hashes != nullptr) return add_hashes(into->hashes, from, cancel);
    from.expanded != nullptr ? add_expanded(into, from.expanded, cancel)
                             : add_runs(into, from.flat, cancel);
  }));
}

RecordsState* flatten(StateRef state) {
  if (state.flat != nullptr) return state.flat;
  const Size size = flat_size(&state.expanded->header);
  auto* flat = static_cast<RecordsState*>(palloc(size));
  flatten_into(&state.expanded->header, flat, size);
  return flat;
}

uint64 distinct_hashes(StateRef state) {
  if (!state) return 0;
  return state.flat != nullptr ? state.flat->count : state.expanded->hashes->size();
}

Histogram histogram_of(StateRef state, std::uint64_t cells, const Workspace& work) {
  if (!state) return Histogram(std::span<uint32>(), cells, work);
  if (state.flat != nullptr) return Histogram(reader_of(state.flat), work);
  if (state.expanded->many != nullptr) {
    return state.expanded->all_of_many(work.cancel)->histogram(work);
  }
  return state.expanded->few.histogram(cells, work);
}

std::pmr::vector<std::uint64_t> counts_of(StateRef state, std::uint64_t cells,
                                          const Workspace& work) {
  const bool has_few = state && state.flat == nullptr && state.expanded->many == nullptr;
  return has_few ? state.expanded->few.counts(cells, work.memory)
                 : histogram_of(state, cells, work).counts(cells, work.memory);
}

}  // namespace dpquantile

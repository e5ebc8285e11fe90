#include "pg/expanded_records.hpp"

#include <new>

namespace dpquantile {

namespace {

ExpandedRecords* records_of(ExpandedObjectHeader* header) {
  return reinterpret_cast<ExpandedRecords*>(header);
}

Size flat_size(ExpandedObjectHeader* header) {
  ExpandedRecords* records = records_of(header);
  report(guarded([&] {
    CancelPoll cancel(cancel_requested);
    records->histogram->encode(cancel);
  }));
  return runs_state_size(records->parameters, records->histogram->encoded().bytes());
}

void copy_runs(const CellRuns& runs, RecordsState* state) {
  uint8* to = state->runs().data();
  for (std::size_t i = 0; i < runs.blocks(); ++i) {
    const std::span<const uint8> block = runs.block(i);
    memcpy(to, block.data(), block.size());
    to += block.size();
  }
}

// PostgreSQL asks for the size first.
void flatten_into(ExpandedObjectHeader* header, void* result, Size) {
  ExpandedRecords* records = records_of(header);
  const CellRuns& runs = records->histogram->encoded();
  auto* state = static_cast<RecordsState*>(result);
  init_runs(state, records->parameters, static_cast<uint32>(runs.records()), runs.bytes());
  copy_runs(runs, state);
  records->histogram->release_encoded();
}

constexpr ExpandedObjectMethods kMethods = {flat_size, flatten_into};

// Without records.
ExpandedRecords* make_expanded(const AggregateParameters* parameters, MemoryContext parent) {
  MemoryContext context =
      AllocSetContextCreate(parent, "dpquantile records", ALLOCSET_START_SMALL_SIZES);
  auto* records =
      static_cast<ExpandedRecords*>(MemoryContextAlloc(context, sizeof(ExpandedRecords)));
  EOH_init_header(&records->header, &kMethods, context);
  const std::size_t size = parameters_size(parameters->quantile_count);
  void* copy = MemoryContextAlloc(context, size);
  records->parameters = static_cast<AggregateParameters*>(memcpy(copy, parameters, size));
  // Both end with the context: what they own is allocated in it.
  void* memory = MemoryContextAlloc(context, sizeof(ContextMemory));
  void* histogram = MemoryContextAlloc(context, sizeof(GrowingHistogram));
  report(guarded([&] {
    records->histogram = new (histogram)
        GrowingHistogram(parameters->grid.cells, new (memory) ContextMemory(context));
  }));
  return records;
}

CellRunsReader reader_of(RecordsState* state) {
  return CellRunsReader(state->runs());
}

}  // namespace

void ExpandedRecords::make_room_and_add(float8 value) {
  report(guarded([&] {
    CancelPoll cancel(cancel_requested);
    histogram->make_room(cancel);
  }));
  histogram->add(parameters->grid.cell_of(value));
}

StateRef get_state(Datum datum) {
  const void* state = DatumGetPointer(datum);
  if (VARATT_IS_EXTERNAL_EXPANDED(state)) {
    Assert(get_expanded(state)->header.eoh_methods == &kMethods);
    return {nullptr, get_expanded(state)};
  }
  return {reinterpret_cast<RecordsState*>(PG_DETOAST_DATUM(datum)), nullptr};
}

ExpandedRecords* expand(StateRef state, MemoryContext parent) {
  ExpandedRecords* records = make_expanded(state.parameters(), parent);
  add_all(records, state);
  return records;
}

void add_all(ExpandedRecords* into, StateRef from) {
  report(guarded([&] {
    CancelPoll cancel(cancel_requested);
    if (from.expanded != nullptr) {
      into->histogram->add(*from.expanded->histogram, cancel);
    } else if (from.flat->kind == RecordKind::kRuns) {
      into->histogram->add(reader_of(from.flat), from.flat->count, cancel);
    } else {
      into->histogram->add(std::span<const uint32>(from.flat->cells(), from.flat->count), cancel);
    }
  }));
}

RecordsState* flatten_to_runs(StateRef state) {
  if (state.flat != nullptr && state.flat->kind == RecordKind::kRuns) return state.flat;
  const bool is_list = state.expanded == nullptr;
  ExpandedRecords* records = is_list ? expand(state, CurrentMemoryContext) : state.expanded;
  const Size size = flat_size(&records->header);
  auto* flat = static_cast<RecordsState*>(palloc(size));
  flatten_into(&records->header, flat, size);
  if (is_list) MemoryContextDelete(records->header.eoh_context);
  return flat;
}

Histogram histogram_of(StateRef state, std::uint64_t cells, CancelPoll& cancel,
                       std::pmr::memory_resource* memory) {
  if (state.expanded != nullptr) return state.expanded->histogram->histogram(cancel, memory);
  if (!state) return Histogram(std::span<uint32>(), cells, cancel, memory);
  if (state.flat->kind == RecordKind::kCell) {
    return Histogram(std::span<uint32>(state.flat->cells(), state.flat->count), cells, cancel,
                     memory);
  }
  return Histogram(reader_of(state.flat), cancel, memory);
}

}  // namespace dpquantile

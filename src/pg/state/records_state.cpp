#include "pg/state/records_state.hpp"

#include <algorithm>
#include <bit>

#include "pg/server/query_random.hpp"
#include "pg/server/version.hpp"

namespace dpquantile {

namespace {

constexpr uint32 kFewRecords = 16;

std::size_t header_size(const AggregateParameters* parameters) {
  return offsetof(RecordsState, parameters) + size_of(parameters);
}

// The bytes of the grid names at the end, 0 if the family has no grids.
uint64 names_size(const AggregateParameters* parameters, GridRoom room) {
  return family_of(parameters).has(Argument::kGrid) ? GridNames::size(room) : 0;
}

uint64 size_without_records(const AggregateParameters* parameters, GridRoom room) {
  return header_size(parameters) + names_size(parameters, room);
}

// At least this many records, rounded up so that the state fills a power of two of bytes:
// PostgreSQL allocates that much anyway. Requires records <= largest_capacity(parameters, room).
uint32 rounded_capacity(const AggregateParameters* parameters, uint32 records, GridRoom room) {
  const uint64 others = size_without_records(parameters, room);
  const uint64 record = record_size(method_of(parameters).records);
  const uint64 size = std::bit_ceil(others + records * record);
  if (size > MaxAllocSize) return largest_capacity(parameters, room);
  return static_cast<uint32>((size - others) / record);
}

// The copy of a large state takes milliseconds, and comes with a number of records that nobody
// knows beforehand: each time 1.5 to 2 times as many. Requires records <= largest.
uint32 drawn_capacity(uint32 records, uint32 largest) {
  const uint64 half = records / 2;
  return static_cast<uint32>(std::min<uint64>(records + half + draw_number() % half, largest));
}

// Fills in everything except the records and names.
void init_header(RecordsState* state, std::size_t size, const AggregateParameters* parameters,
                 RecordKind kind) {
  memset(state, 0, offsetof(RecordsState, parameters));
  SET_VARSIZE(state, size);
  state->kind = kind;
  state->library = kLibraryMark;
  memcpy(&state->parameters, parameters, size_of(parameters));
}

RecordsState* copy_with_room(RecordsState* state, uint32 capacity, GridRoom room) {
  RecordsState* larger = make_state(&state->parameters, capacity, room);
  larger->count = state->count;
  memcpy(larger->records(), state->records(), state->count * record_size(state->kind));
  if (state->has_grid_names()) larger->grid_names()->add_all(state->grid_names());
  return larger;
}

GridRoom room_of(RecordsState* state) {
  return state->has_grid_names() ? state->grid_names()->room() : GridRoom{0, 0};
}

// The state itself, or a larger copy of it, with room for one more name.
RecordsState* reserve_name(RecordsState* state, uint32 length) {
  const GridRoom room = state->grid_names()->room();
  const GridRoom used = state->grid_names()->used();
  if (used.names >= GridNames::kMost) {
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("dp_user_grid_stats takes at most %u grids in one group", GridNames::kMost),
             errhint("Use larger grids, or group by a part of the key.")));
  }
  const bool more_names = used.names == room.names;
  const bool more_bytes = length > room.bytes - used.bytes;
  if (!more_names && !more_bytes) return state;
  // No overflow: a state is below 2^30 bytes, and so are all of these.
  const GridRoom larger{more_names ? 2 * room.names : room.names,
                        more_bytes ? 2 * room.bytes + length : room.bytes};
  if (state->capacity > largest_capacity(&state->parameters, larger)) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("the rows and grid names of one group exceed 1 GB"),
                    errhint("Aggregate fewer rows, use more groups, or use shorter grid names.")));
  }
  return copy_with_room(state, state->capacity, larger);
}

// ereports if a state with so many bytes of records exceeds 1 GB.
std::size_t state_size(const AggregateParameters* parameters, uint64 bytes, const char* hint) {
  const uint64 size = header_size(parameters) + bytes;
  if (size > MaxAllocSize) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("the state of a group exceeds 1 GB"), errhint("%s", hint)));
  }
  return static_cast<std::size_t>(size);
}

RecordsState* make_sums(const AggregateParameters* parameters) {
  RecordsState* state = make_state(parameters, 1, GridRoom{0, 0});
  state->count = 1;
  memset(state->records(), 0, record_size(state->kind));
  return state;
}

}  // namespace

RecordsState* make_state(const AggregateParameters* parameters, uint32 capacity, GridRoom room) {
  const RecordKind kind = method_of(parameters).records;
  const auto size =
      static_cast<Size>(size_without_records(parameters, room) + capacity * record_size(kind));
  auto* state = static_cast<RecordsState*>(palloc(size));
  init_header(state, size, parameters, kind);
  state->capacity = capacity;
  if (state->has_grid_names()) GridNames::make(state->grid_names(), room);
  return state;
}

RecordsState* make_state(const AggregateParameters* parameters) {
  const RecordKind kind = method_of(parameters).records;
  if (kind == RecordKind::kSums || kind == RecordKind::kPairs) return make_sums(parameters);
  const GridRoom room = GridNames::kFirstRoom;
  return make_state(parameters, rounded_capacity(parameters, kFewRecords, room), room);
}

std::size_t runs_state_size(const AggregateParameters* parameters, std::size_t bytes) {
  return state_size(parameters, bytes, "Choose a larger granularity, or use more groups.");
}

std::size_t hashes_state_size(const AggregateParameters* parameters, uint64 count) {
  return state_size(parameters, count * sizeof(uint64), "Use more groups.");
}

void init_hashes(RecordsState* state, const AggregateParameters* parameters, uint64 count) {
  init_header(state, hashes_state_size(parameters, count), parameters, RecordKind::kHashes);
  state->count = static_cast<uint32>(count);
  state->capacity = state->count;
}

void init_runs(RecordsState* state, const AggregateParameters* parameters, uint32 count,
               std::size_t bytes) {
  init_header(state, runs_state_size(parameters, bytes), parameters, RecordKind::kRuns);
  state->count = count;
  state->capacity = static_cast<uint32>(bytes);
}

RecordsState* make_runs(const AggregateParameters* parameters, uint32 count, std::size_t bytes) {
  const std::size_t size = runs_state_size(parameters, bytes);
  auto* state = static_cast<RecordsState*>(palloc(size));
  init_runs(state, parameters, count, bytes);
  return state;
}

uint32 largest_capacity(const AggregateParameters* parameters, GridRoom room) {
  const uint64 others = size_without_records(parameters, room);
  const uint64 left = MaxAllocSize - std::min<uint64>(others, MaxAllocSize);
  return static_cast<uint32>(left / record_size(method_of(parameters).records));
}

uint32 largest_group(const AggregateParameters* parameters) {
  return largest_capacity(parameters, GridRoom{0, 0});
}

RecordsState* reserve(RecordsState* state, uint32 more) {
  if (state->capacity - state->count >= more) return state;
  const uint32 largest = largest_capacity(&state->parameters, room_of(state));
  if (more > largest - state->count) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a private aggregate takes at most %u rows in one group", largest),
                    errhint("Aggregate fewer rows, or use more groups.")));
  }
  constexpr uint32 kMany = 1 << 12;
  const uint32 records = state->count + more;
  const uint32 capacity = records < kMany
                              ? rounded_capacity(&state->parameters, records, room_of(state))
                              : drawn_capacity(records, largest);
  return copy_with_room(state, capacity, room_of(state));
}

RecordsState* find_or_add_grid(RecordsState* state, GridName name, uint32* number) {
  *number = state->grid_names()->find(name);
  if (*number != GridNames::kNone) return state;
  state = reserve_name(state, name.length);
  *number = state->grid_names()->add(name);
  return state;
}

}  // namespace dpquantile

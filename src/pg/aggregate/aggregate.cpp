#include "pg/aggregate/aggregate.hpp"

#include <cmath>

#include "pg/aggregate/call_parameters.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/aggregate/user_key.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/version.hpp"
#include "pg/state/group_pools.hpp"

namespace dpquantile {

namespace {

StateRef state_argument(FunctionCallInfo fcinfo, int number) {
  return PG_ARGISNULL(number) ? StateRef{} : get_state(PG_GETARG_DATUM(number));
}

// What a transition or combine function keeps for the query.
struct KeptForQuery : KeptCall {
  UserHash* hash;                         // of the values, if the family hashes them
  const AggregateParameters* parameters;  // if they are literals, after the first group
  GroupPools pools;
};

KeptForQuery* kept_for_query(FunctionCallInfo fcinfo) {
  FmgrInfo* function = fcinfo->flinfo;
  if (function->fn_extra == nullptr) {
    function->fn_extra = MemoryContextAllocZero(function->fn_mcxt, sizeof(KeptForQuery));
  }
  return static_cast<KeptForQuery*>(function->fn_extra);
}

const KeptForQuery* kept_with_hash(FunctionCallInfo fcinfo, Family family) {
  KeptForQuery* kept = kept_for_query(fcinfo);
  if (unlikely(kept->call == nullptr)) {
    const Aggref* call = find_released_call(fcinfo);
    require_value_type(call, row_of(family));
    kept->value_type = type_of_rows(call, family);
    if (row_of(family).has(Argument::kX)) kept->x_type = type_of_rows(call, family, 1);
    if (row_of(family).hashes_first_argument()) {
      if (!is_below_release(call)) read_user_key();
      kept->hash = row_of(family).hashes_users() ? make_user_hash(call, fcinfo->flinfo->fn_mcxt)
                                                 : make_value_hash(call, fcinfo->flinfo->fn_mcxt);
    }
    kept->call = call;
  }
  return kept;
}

// Whether an expanded object holds the records while rows are added.
bool is_expandable(const AggregateParameters* parameters) {
  const RecordKind kind = method_of(parameters).records;
  return kind == RecordKind::kRuns || kind == RecordKind::kHashes;
}

// The memory context of the group's state.
MemoryContext group_context(FunctionCallInfo fcinfo) {
  MemoryContext context;
  (void)AggCheckCallContext(fcinfo, &context);
  return context;
}

Datum expanded_datum(ExpandedRecords* records) {
  return PointerGetDatum(records->read_write_pointer);
}

// Makes the state of a new group of a pool.
Datum begin_in(GroupPool* pool) {
  return is_expandable(pool->parameters) ? expanded_datum(make_expanded(pool))
                                         : PointerGetDatum(make_state(pool->parameters));
}

bool has_literal_parameters(const Aggref* call, Family family) {
  for (const auto* parameter :
       each<Node>(parameter_expressions(call, row_of(family).arguments_from_rows()))) {
    if (!IsA(parameter, Const)) return false;
  }
  return true;
}

// The parameters for a new pool. Others than literals may change between the executions of a query.
const AggregateParameters* parameters_of_pool(FunctionCallInfo fcinfo, Family family) {
  const KeptForQuery* kept = kept_with_hash(fcinfo, family);
  if (kept->parameters != nullptr) return kept->parameters;
  const uint64 key_check = kept->hash == nullptr ? 0 : kept->hash->key_check;
  const AggregateParameters* read = receive_call_parameters(fcinfo, family, kept->call, key_check);
  if (!has_literal_parameters(kept->call, family)) return read;
  const std::size_t size = size_of(read);
  void* copy = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, size);
  memcpy(copy, read, size);
  return kept_for_query(fcinfo)->parameters = static_cast<const AggregateParameters*>(copy);
}

// The same for a transition function. The parameters are constant, so the first group of a pool
// reads them for all groups of the pool, and of other pools: to read and check them takes longer
// than to add a row. Above sorted rows each group has a pool.
Datum start_state(FunctionCallInfo fcinfo, Family family) {
  GroupPool* pool = find_pool(&kept_for_query(fcinfo)->pools, group_context(fcinfo));
  if (pool != nullptr) return begin_in(pool);
  return begin_group(fcinfo, parameters_of_pool(fcinfo, family));
}

// An expanded copy of a state.
Datum expand_into_group(FunctionCallInfo fcinfo, StateRef from) {
  GroupPool* pool =
      get_pool(&kept_for_query(fcinfo)->pools, group_context(fcinfo), from.parameters());
  ExpandedRecords* records = make_expanded(pool);
  add_all(records, from);
  return expanded_datum(records);
}

Datum add_value(RecordsState* state, float8 value) {
  if (unlikely(std::isnan(value))) return PointerGetDatum(state);
  if (unlikely(state->count == state->capacity)) state = reserve(state, 1);
  state->values()[state->count++] = value;
  return PointerGetDatum(state);
}

Datum add_record(FunctionCallInfo fcinfo, Family family, float8 value) {
  const Datum state = PG_ARGISNULL(0) ? start_state(fcinfo, family) : PG_GETARG_DATUM(0);
  return add_number(fcinfo, family, state, value);
}

RecordsState* append(RecordsState* into, RecordsState* from) {
  into = reserve(into, from->count);
  const std::size_t size = record_size(into->kind);
  memcpy(into->records() + into->count * size, from->records(), from->count * size);
  into->count += from->count;
  return into;
}

// Appends the rows of `from` under the numbers that their grids have in `into`.
RecordsState* append_with_grids(RecordsState* into, RecordsState* from) {
  const GridNames* names = from->grid_names();
  auto* number = static_cast<uint32*>(palloc(names->count() * sizeof(uint32) + 1));
  for (uint32 i = 0; i < names->count(); ++i) {
    CHECK_FOR_INTERRUPTS();
    into = find_or_add_grid(into, names->name(i), &number[i]);
  }
  into = reserve(into, from->count);
  for (uint32 i = 0; i < from->count; ++i) {
    CHECK_FOR_INTERRUPTS();
    UserRow row = from->user_rows()[i];
    row.grid = number[row.grid];
    into->user_rows()[into->count++] = row;
  }
  pfree(number);
  return into;
}

Datum combine_expanded(FunctionCallInfo fcinfo, StateRef into, StateRef from) {
  const bool in_place = into.expanded != nullptr && is_expanded(PG_GETARG_POINTER(0));
  const Datum result = in_place ? PG_GETARG_DATUM(0) : expand_into_group(fcinfo, into);
  add_all(get_expanded(DatumGetPointer(result)), from);
  return result;
}

// Makes the state of a new group from its first partial state. The executor copies a flat result.
Datum begin_group_with(FunctionCallInfo fcinfo, StateRef from) {
  return is_expandable(from.parameters()) ? expand_into_group(fcinfo, from)
                                          : PointerGetDatum(from.flat);
}

}  // namespace

void require_family(const RecordsState* state, Family family) {
  if (likely(state->parameters.family == family)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("the state belongs to another private aggregate")));
}

RecordsState* start_group(FunctionCallInfo fcinfo, Family family, const Aggref* call,
                          uint64 user_key_check) {
  return make_state(receive_call_parameters(fcinfo, family, call, user_key_check));
}

Datum begin_group(FunctionCallInfo fcinfo, const AggregateParameters* parameters) {
  return begin_in(get_pool(&kept_for_query(fcinfo)->pools, group_context(fcinfo), parameters));
}

Datum add_number(FunctionCallInfo fcinfo, Family family, Datum state, float8 value) {
  if (!is_expanded(DatumGetPointer(state))) {
    auto* flat = reinterpret_cast<RecordsState*>(DatumGetPointer(state));
    require_family(flat, family);
    if (flat->kind == RecordKind::kValue) return add_value(flat, value);
    state = expand_into_group(fcinfo, {flat, nullptr});
  }
  get_expanded(DatumGetPointer(state))->add(value);
  return state;
}

const KeptCall* kept_collecting_call(FunctionCallInfo fcinfo) {
  KeptForQuery* kept = kept_for_query(fcinfo);
  if (unlikely(kept->call == nullptr)) {
    require_matching_sql();
    const Aggref* call = find_call(fcinfo);
    kept->value_type = type_of_rows(call, Family::kValueCount);
    kept->call = call;
  }
  return kept;
}

Datum begin_group(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  return start_state(fcinfo, family);
}

const KeptCall* kept_call(FunctionCallInfo fcinfo, Family family) {
  return kept_with_hash(fcinfo, family);
}

Datum expanded_state(FunctionCallInfo fcinfo, Family family) {
  const Datum state = PG_ARGISNULL(0) ? start_state(fcinfo, family) : PG_GETARG_DATUM(0);
  if (likely(is_expanded(DatumGetPointer(state)))) return state;
  const StateRef flat = get_state(state);
  require_family(flat.flat, family);
  return expand_into_group(fcinfo, flat);
}

Datum add_hashed_row(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const uint64 hash = hash_user(kept_with_hash(fcinfo, family)->hash, PG_GETARG_DATUM(1));
  const Datum state = expanded_state(fcinfo, family);
  get_expanded(DatumGetPointer(state))->add_hash(hash);
  return state;
}

Datum add_row_to_any_state(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const ValueType type = value_type_of_rows(fcinfo, family);
  return add_record(fcinfo, family, number_of_value(type, PG_GETARG_DATUM(1)));
}

}  // namespace dpquantile

using namespace dpquantile;

// (state, state) returns state
DPQ_FUNCTION(dpq_records_combine) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const StateRef from = state_argument(fcinfo, 1);
  if (PG_ARGISNULL(0)) return begin_group_with(fcinfo, from);
  const StateRef into = state_argument(fcinfo, 0);
  if (!same_parameters(into.parameters(), from.parameters())) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("partial states of different aggregate calls cannot be combined")));
  }
  if (is_expandable(into.parameters())) return combine_expanded(fcinfo, into, from);
  if (into.flat->kind == RecordKind::kSums) {
    into.flat->sums()->add(*from.flat->sums());
    PG_RETURN_POINTER(into.flat);
  }
  if (into.flat->kind == RecordKind::kPairs) {
    into.flat->pairs()->add(*from.flat->pairs());
    PG_RETURN_POINTER(into.flat);
  }
  if (into.flat->has_grid_names()) PG_RETURN_POINTER(append_with_grids(into.flat, from.flat));
  PG_RETURN_POINTER(append(into.flat, from.flat));
}

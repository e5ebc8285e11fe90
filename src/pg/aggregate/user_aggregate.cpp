#include "pg/aggregate/user_aggregate.hpp"

#include <cmath>

#include "pg/aggregate/call_parameters.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/aggregate/user_key.hpp"

namespace dpquantile {

namespace {

constexpr int kUser = 1;
constexpr int kGrid = 2;

// What a transition function keeps for the query.
struct UserCall {
  const Aggref* call;
  UserHash* hash;
  ValueType value_type;
};

UserCall* user_call(FunctionCallInfo fcinfo, Family family) {
  if (likely(fcinfo->flinfo->fn_extra != nullptr)) {
    return static_cast<UserCall*>(fcinfo->flinfo->fn_extra);
  }
  const Aggref* found = find_released_call(fcinfo);
  require_value_type(found, row_of(family));
  if (!is_below_release(found)) read_user_key();
  UserHash* hash = make_user_hash(found, fcinfo->flinfo->fn_mcxt);
  auto* kept =
      static_cast<UserCall*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(UserCall)));
  *kept = {found, hash, type_of_rows(found, family)};
  fcinfo->flinfo->fn_extra = kept;
  return kept;
}

bool has_null_argument(FunctionCallInfo fcinfo, Family family) {
  const int count = row_of(family).arguments_from_rows();
  for (int i = 1; i <= count; ++i) {
    if (PG_ARGISNULL(i)) return true;
  }
  return false;
}

Datum value_of_row(FunctionCallInfo fcinfo, Family family) {
  return PG_GETARG_DATUM(row_of(family).arguments_from_rows());
}

RecordsState* find_grid(RecordsState* state, Datum grid, uint32* number) {
  text* name = DatumGetTextPP(grid);
  state = find_or_add_grid(state, {VARDATA_ANY(name), static_cast<uint32>(VARSIZE_ANY_EXHDR(name))},
                           number);
  if (name != reinterpret_cast<text*>(DatumGetPointer(grid))) pfree(name);
  return state;
}

Datum add_record(FunctionCallInfo fcinfo, Family family, float8 value) {
  UserCall* kept = user_call(fcinfo, family);
  RecordsState* state =
      PG_ARGISNULL(0) ? nullptr : reinterpret_cast<RecordsState*>(PG_GETARG_POINTER(0));
  if (unlikely(state == nullptr)) {
    state = start_group(fcinfo, family, kept->call, kept->hash->key_check);
  }
  require_family(state, family);
  if (unlikely(std::isnan(value))) PG_RETURN_POINTER(state);
  UserRow row;
  row.user = hash_user(kept->hash, PG_GETARG_DATUM(kUser));
  row.grid = 0;
  row.value = fixed_point_of(&state->parameters).units_of(value);
  if (state->has_grid_names()) state = find_grid(state, PG_GETARG_DATUM(kGrid), &row.grid);
  if (unlikely(state->count == state->capacity)) state = reserve(state, 1);
  state->user_rows()[state->count++] = row;
  PG_RETURN_POINTER(state);
}

}  // namespace

Datum add_user_row(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  if (has_null_argument(fcinfo, family)) return keep_state(fcinfo);
  const ValueType type = user_call(fcinfo, family)->value_type;
  return add_record(fcinfo, family, number_of_value(type, value_of_row(fcinfo, family)));
}

}  // namespace dpquantile

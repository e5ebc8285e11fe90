#include <algorithm>
#include <cmath>

#include "pg/records_state.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(dpq_state_in);
PG_FUNCTION_INFO_V1(dpq_state_out);
PG_FUNCTION_INFO_V1(dpq_state_recv);
PG_FUNCTION_INFO_V1(dpq_state_send);
DPQ_EXPORT Datum dpq_state_in(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_state_out(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_state_recv(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_state_send(PG_FUNCTION_ARGS);
}

namespace dpquantile {

namespace {

constexpr uint32 kFirstCapacity = 16;
constexpr uint8 kWireVersion = 1;

std::size_t header_size(uint32 quantile_count) {
  return offsetof(RecordsState, parameters) + parameters_size(quantile_count);
}

uint32 largest_capacity(const AggregateParameters* parameters) {
  return static_cast<uint32>((MaxAllocSize - header_size(parameters->quantile_count)) /
                             record_size(record_kind(parameters)));
}

RecordsState* allocate(const AggregateParameters* parameters, uint32 capacity) {
  const std::size_t header = header_size(parameters->quantile_count);
  const RecordKind kind = record_kind(parameters);
  const std::size_t size = header + capacity * record_size(kind);
  auto* state = static_cast<RecordsState*>(palloc(size));
  memset(state, 0, offsetof(RecordsState, parameters));
  SET_VARSIZE(state, size);
  state->kind = kind;
  state->capacity = capacity;
  memcpy(&state->parameters, parameters, parameters_size(parameters->quantile_count));
  return state;
}

[[noreturn]] void refuse_bytes(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                  errmsg("invalid records_state: %s", what)));
}

bool same_bits(const double* a, const double* b, uint32 count) {
  return count == 0 || memcmp(a, b, count * sizeof(double)) == 0;
}

// Bit by bit.
bool is_zero(double value) {
  const double zero = 0;
  return same_bits(&value, &zero, 1);
}

// Fields that the family has no use for are zero.
void require_as_sent(const GivenParameters& given, uint32 bins,
                     const AggregateParameters* parameters) {
  if (parameters->bins != bins) refuse_bytes("bins and granularity do not agree");
  if (given.quantile_count != parameters->quantile_count ||
      !same_bits(given.quantiles, parameters->quantiles, given.quantile_count)) {
    refuse_bytes("quantiles that the aggregate does not have");
  }
  const bool has_bounds = record_kind(parameters) == RecordKind::kCell;
  const bool unused_are_zero =
      has_bounds ? is_zero(given.delta) : is_zero(given.lower) && is_zero(given.upper);
  if (!unused_are_zero) refuse_bytes("parameters that the aggregate does not have");
}

// The parameters that are sent are those of the call, to be checked like a user's.
const AggregateParameters* receive_parameters(StringInfo bytes) {
  const int family = pq_getmsgbyte(bytes);
  if (!is_family(family)) refuse_bytes("unknown aggregate");
  GivenParameters given{};
  given.family = static_cast<Family>(family);
  given.options.method = static_cast<Method>(pq_getmsgbyte(bytes));
  if (method_name(given.family, given.options.method) == nullptr) refuse_bytes("unknown method");
  given.epsilon = pq_getmsgfloat8(bytes);
  given.delta = pq_getmsgfloat8(bytes);
  given.lower = pq_getmsgfloat8(bytes);
  given.upper = pq_getmsgfloat8(bytes);
  const float8 granularity = pq_getmsgfloat8(bytes);
  if (granularity != 0 || std::signbit(granularity)) given.options.granularity = granularity;
  const uint32 bins = pq_getmsgint(bytes, 4);
  if (given.family == Family::kCdf && granularity == 0) given.options.bins = bins;

  given.quantile_count = pq_getmsgint(bytes, 4);
  if (given.quantile_count > static_cast<uint32>(bytes->len - bytes->cursor) / sizeof(double)) {
    refuse_bytes("more quantiles than bytes");
  }
  auto* quantiles = static_cast<double*>(palloc(given.quantile_count * sizeof(double) + 1));
  for (uint32 i = 0; i < given.quantile_count; ++i) quantiles[i] = pq_getmsgfloat8(bytes);
  given.quantiles = quantiles;
  const AggregateParameters* parameters = make_parameters(given);
  require_as_sent(given, bins, parameters);
  return parameters;
}

void receive_record(StringInfo bytes, RecordsState* state) {
  if (state->kind == RecordKind::kValue) {
    const float8 value = pq_getmsgfloat8(bytes);
    if (std::isnan(value)) refuse_bytes("a record is NaN");
    state->values()[state->count++] = value;
    return;
  }
  const uint32 cell = pq_getmsgint(bytes, 4);
  if (cell >= state->parameters.grid.cells) refuse_bytes("a record lies outside the grid");
  state->cells()[state->count++] = cell;
}

// Nothing in the bytes is trusted: each field is checked as if a user had written it.
RecordsState* receive(StringInfo bytes) {
  if (pq_getmsgbyte(bytes) != kWireVersion) refuse_bytes("unknown version");
  const AggregateParameters* parameters = receive_parameters(bytes);
  const uint32 count = pq_getmsgint(bytes, 4);
  const auto left = static_cast<std::size_t>(bytes->len - bytes->cursor);
  if (left != count * record_size(record_kind(parameters))) {
    refuse_bytes("number of records and bytes do not agree");
  }
  if (count > largest_capacity(parameters)) refuse_bytes("too many records");
  RecordsState* state = allocate(parameters, std::max(count, kFirstCapacity));
  while (state->count < count) receive_record(bytes, state);
  pq_getmsgend(bytes);
  return state;
}

bytea* send(RecordsState* state) {
  const AggregateParameters& parameters = state->parameters;
  StringInfoData bytes;
  pq_begintypsend(&bytes);
  pq_sendbyte(&bytes, kWireVersion);
  pq_sendbyte(&bytes, static_cast<uint8>(parameters.family));
  pq_sendbyte(&bytes, parameters.method);
  pq_sendfloat8(&bytes, parameters.epsilon);
  pq_sendfloat8(&bytes, parameters.delta);
  pq_sendfloat8(&bytes, parameters.lower);
  pq_sendfloat8(&bytes, parameters.upper);
  pq_sendfloat8(&bytes, parameters.granularity);
  pq_sendint32(&bytes, parameters.bins);
  pq_sendint32(&bytes, parameters.quantile_count);
  for (uint32 i = 0; i < parameters.quantile_count; ++i) {
    pq_sendfloat8(&bytes, parameters.quantiles[i]);
  }
  pq_sendint32(&bytes, state->count);
  for (uint32 i = 0; i < state->count; ++i) {
    if (state->kind == RecordKind::kValue) {
      pq_sendfloat8(&bytes, state->values()[i]);
    } else {
      pq_sendint32(&bytes, state->cells()[i]);
    }
  }
  return pq_endtypsend(&bytes);
}

}  // namespace

RecordsState* make_state(const AggregateParameters* parameters) {
  return allocate(parameters, kFirstCapacity);
}

RecordsState* reserve(RecordsState* state, uint32 more) {
  if (state->capacity - state->count >= more) return state;
  const uint32 largest = largest_capacity(&state->parameters);
  if (more > largest - state->count) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a private aggregate takes at most %u rows in one group", largest),
                    errhint("Aggregate a part of the rows, or use more groups.")));
  }
  const uint32 doubled = state->capacity > largest / 2 ? largest : state->capacity * 2;
  RecordsState* larger = allocate(&state->parameters, std::max(doubled, state->count + more));
  larger->count = state->count;
  memcpy(larger->records(), state->records(), state->count * record_size(state->kind));
  return larger;
}

}  // namespace dpquantile

using namespace dpquantile;

// The text form is the binary form as PostgreSQL writes a bytea.
Datum dpq_state_in(PG_FUNCTION_ARGS) {
  bytea* bytes = DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
  StringInfoData message;
  message.data = VARDATA_ANY(bytes);
  message.len = message.maxlen = static_cast<int>(VARSIZE_ANY_EXHDR(bytes));
  message.cursor = 0;
  PG_RETURN_POINTER(receive(&message));
}

Datum dpq_state_out(PG_FUNCTION_ARGS) {
  return DirectFunctionCall1(byteaout, PointerGetDatum(send(get_state(PG_GETARG_DATUM(0)))));
}

Datum dpq_state_recv(PG_FUNCTION_ARGS) {
  PG_RETURN_POINTER(receive(reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0))));
}

Datum dpq_state_send(PG_FUNCTION_ARGS) {
  PG_RETURN_BYTEA_P(send(get_state(PG_GETARG_DATUM(0))));
}

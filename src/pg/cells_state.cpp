#include <algorithm>
#include <cmath>

#include "pg/cells_state.hpp"

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
  return offsetof(CellsState, parameters) + parameters_size(quantile_count);
}

uint32 largest_capacity(uint32 quantile_count) {
  return static_cast<uint32>((MaxAllocSize - header_size(quantile_count)) / sizeof(uint32));
}

CellsState* allocate(const AggregateParameters* parameters, uint32 capacity) {
  const std::size_t header = header_size(parameters->quantile_count);
  const std::size_t size = header + capacity * sizeof(uint32);
  auto* state = static_cast<CellsState*>(palloc(size));
  memset(state, 0, offsetof(CellsState, parameters));
  SET_VARSIZE(state, size);
  state->content = StateContent::kRecords;
  state->capacity = capacity;
  memcpy(&state->parameters, parameters, parameters_size(parameters->quantile_count));
  return state;
}

[[noreturn]] void refuse_bytes(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                  errmsg("invalid cells_state: %s", what)));
}

// Nothing in the bytes is trusted: each field is checked as if a user had written it.
CellsState* receive(StringInfo bytes) {
  if (pq_getmsgbyte(bytes) != kWireVersion) refuse_bytes("unknown version");
  if (pq_getmsgbyte(bytes) != static_cast<int>(StateContent::kRecords)) {
    refuse_bytes("unknown content");
  }
  const int family_number = pq_getmsgbyte(bytes);
  if (!is_family(family_number)) refuse_bytes("unknown aggregate");
  const auto family = static_cast<Family>(family_number);
  AggregateOptions options{};
  options.method = static_cast<Method>(pq_getmsgbyte(bytes));
  if (method_name(family, options.method) == nullptr) refuse_bytes("unknown method");
  const double epsilon = pq_getmsgfloat8(bytes);
  const double lower = pq_getmsgfloat8(bytes);
  const double upper = pq_getmsgfloat8(bytes);
  options.granularity = pq_getmsgfloat8(bytes);
  options.has_granularity = options.granularity != 0;
  const uint32 bins = pq_getmsgint(bytes, 4);
  options.bins = bins;
  options.has_bins = family == Family::kCdf && !options.has_granularity;

  const uint32 quantile_count = pq_getmsgint(bytes, 4);
  if (family != Family::kQuantiles && quantile_count != 0) refuse_bytes("quantiles of a CDF");
  if (quantile_count > static_cast<uint32>(bytes->len - bytes->cursor) / sizeof(double)) {
    refuse_bytes("more quantiles than bytes");
  }
  auto* quantiles = static_cast<double*>(palloc(quantile_count * sizeof(double) + 1));
  for (uint32 i = 0; i < quantile_count; ++i) quantiles[i] = pq_getmsgfloat8(bytes);
  const AggregateParameters* parameters =
      make_parameters(family, epsilon, lower, upper, options, quantiles, quantile_count);
  if (parameters->bins != bins || std::signbit(parameters->granularity) ||
      std::signbit(options.granularity)) {
    refuse_bytes("bins and granularity do not agree");
  }

  const uint32 count = pq_getmsgint(bytes, 4);
  if (count != static_cast<uint32>(bytes->len - bytes->cursor) / sizeof(uint32)) {
    refuse_bytes("number of records and bytes do not agree");
  }
  if (count > largest_capacity(quantile_count)) refuse_bytes("too many records");
  CellsState* state = allocate(parameters, std::max(count, kFirstCapacity));
  for (; state->count < count; ++state->count) {
    const uint32 cell = pq_getmsgint(bytes, 4);
    if (cell >= parameters->grid.cells) refuse_bytes("a record lies outside the grid");
    state->cells()[state->count] = cell;
  }
  pq_getmsgend(bytes);
  return state;
}

bytea* send(CellsState* state) {
  StringInfoData bytes;
  pq_begintypsend(&bytes);
  pq_sendbyte(&bytes, kWireVersion);
  pq_sendbyte(&bytes, static_cast<uint8>(state->content));
  pq_sendbyte(&bytes, static_cast<uint8>(state->parameters.family));
  pq_sendbyte(&bytes, state->parameters.method);
  pq_sendfloat8(&bytes, state->parameters.epsilon);
  pq_sendfloat8(&bytes, state->parameters.lower);
  pq_sendfloat8(&bytes, state->parameters.upper);
  pq_sendfloat8(&bytes, state->parameters.granularity);
  pq_sendint32(&bytes, state->parameters.bins);
  pq_sendint32(&bytes, state->parameters.quantile_count);
  for (uint32 i = 0; i < state->parameters.quantile_count; ++i) {
    pq_sendfloat8(&bytes, state->parameters.quantiles[i]);
  }
  pq_sendint32(&bytes, state->count);
  for (uint32 i = 0; i < state->count; ++i) pq_sendint32(&bytes, state->cells()[i]);
  return pq_endtypsend(&bytes);
}

}  // namespace

CellsState* make_state(const AggregateParameters* parameters) {
  return allocate(parameters, kFirstCapacity);
}

CellsState* reserve(CellsState* state, uint32 more) {
  if (state->capacity - state->count >= more) return state;
  const uint32 largest = largest_capacity(state->parameters.quantile_count);
  if (more > largest - state->count) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a private aggregate takes at most %u rows in one group", largest),
                    errhint("Aggregate a part of the rows, or use more groups.")));
  }
  const uint32 doubled = state->capacity > largest / 2 ? largest : state->capacity * 2;
  CellsState* larger = allocate(&state->parameters, std::max(doubled, state->count + more));
  larger->count = state->count;
  memcpy(larger->cells(), state->cells(), state->count * sizeof(uint32));
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

// The text and binary forms of the aggregate state. Records on a value grid are written compressed
// and in order, so the same records always give the same bytes.
#include "pg/state/records_io.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/histogram/cell_runs.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/expanded_records.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

constexpr uint8 kWireVersion = 4;

[[noreturn]] void refuse_bytes(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                  errmsg("invalid records_state: %s", what)));
}

bool same_bits(const double* a, const double* b, uint32 count) {
  return count == 0 || memcmp(a, b, count * sizeof(double)) == 0;
}

// Compares bits, so that -0 is not zero.
bool is_zero(double value) {
  const double zero = 0;
  return same_bits(&value, &zero, 1);
}

void require_list(std::span<const double> received, const AggregateParameters* parameters) {
  if (received.size() == parameters->list_length &&
      same_bits(received.data(), parameters->list, parameters->list_length)) {
    return;
  }
  refuse_bytes("quantiles that the aggregate does not have");
}

// Fields that the family does not use must be zero.
void require_canonical(const GivenParameters& given, uint32 bins, std::span<const double> list,
                       const AggregateParameters* parameters) {
  if (parameters->bins != bins) refuse_bytes("bins and granularity do not agree");
  if (given.options.granularity && !row_of(given.family).takes(kGranularityOption)) {
    refuse_bytes("parameters that the aggregate does not have");
  }
  require_list(list, parameters);
  const FamilyRow& family = family_of(parameters);
  const bool by_options = method_of(parameters).bounds_from_options;
  const bool has_bounds = family.has(Argument::kLower) || by_options;
  const bool has_delta = family.has(Argument::kDelta) && !by_options;
  const bool unused_are_zero = (has_bounds || (is_zero(given.lower) && is_zero(given.upper))) &&
                               (has_delta || is_zero(given.delta));
  if (!unused_are_zero) refuse_bytes("parameters that the aggregate does not have");
}

// What only families of hashes send: the check of the key, and max_groups.
void receive_hash_options(StringInfo bytes, GivenParameters* given) {
  given->user_key_check = static_cast<uint64>(pq_getmsgint64(bytes));
  if (row_of(given->family).bounds_groups_of_users()) given->max_groups = pq_getmsgint(bytes, 4);
}

// The options that only user-level aggregates send. Each has only one valid form.
void receive_user_options(StringInfo bytes, GivenParameters* given) {
  const int rule = pq_getmsgbyte(bytes);
  const int suppress = pq_getmsgbyte(bytes);
  const uint32 number = pq_getmsgint(bytes, 4);
  given->user_key_check = static_cast<uint64>(pq_getmsgint64(bytes));
  if (rule > static_cast<int>(ContributionRule::kFixed)) refuse_bytes("unknown max_contributions");
  const ContributionLimit limit{static_cast<ContributionRule>(rule), number};
  if (limit.rule != ContributionRule::kOptimal) given->options.max_contributions = limit;
  const bool takes_suppress = row_of(given->family).takes(kSuppressOption);
  if ((limit.rule != ContributionRule::kFixed && number != 0) ||
      suppress > (takes_suppress ? 1 : 0) ||
      (takes_suppress && limit.rule != ContributionRule::kOptimal)) {
    refuse_bytes("parameters that the aggregate does not have");
  }
  if (takes_suppress) given->options.suppress = suppress != 0;
}

PrivacyMeasure receive_measure(StringInfo bytes, const FamilyRow& family) {
  const auto measure = static_cast<PrivacyMeasure>(pq_getmsgbyte(bytes));
  if (measure != PrivacyMeasure::kPure && measure != PrivacyMeasure::kZcdp) {
    refuse_bytes("unknown measure of privacy");
  }
  if (measure == PrivacyMeasure::kZcdp && !family.takes(kRhoOption)) {
    refuse_bytes("a measure of privacy that the aggregate does not have");
  }
  return measure;
}

ValueType receive_value_type(StringInfo bytes) {
  const auto type = find_value_type_by_number(pq_getmsgbyte(bytes));
  if (!type) refuse_bytes("unknown type of values");
  return *type;
}

std::span<const double> receive_list(StringInfo bytes) {
  const uint32 length = pq_getmsgint(bytes, 4);
  if (length > static_cast<uint32>(bytes->len - bytes->cursor) / sizeof(double)) {
    refuse_bytes("more quantiles than bytes");
  }
  auto* list = static_cast<double*>(palloc(length * sizeof(double) + 1));
  for (uint32 i = 0; i < length; ++i) list[i] = pq_getmsgfloat8(bytes);
  return {list, length};
}

// The bytes hold the parameters of a call, so make_parameters() checks them like a user's.
const AggregateParameters* receive_parameters(StringInfo bytes) {
  const FamilyRow* family = find_family(pq_getmsgbyte(bytes));
  if (family == nullptr) refuse_bytes("unknown aggregate");
  GivenParameters given{};
  given.family = family->family;
  given.options.method = static_cast<Method>(pq_getmsgbyte(bytes));
  if (find_method(*family, given.options.method) == nullptr) refuse_bytes("unknown method");
  given.privacy.measure = receive_measure(bytes, *family);
  given.value_type = receive_value_type(bytes);
  given.privacy.value = pq_getmsgfloat8(bytes);
  given.delta = pq_getmsgfloat8(bytes);
  given.lower = pq_getmsgfloat8(bytes);
  given.upper = pq_getmsgfloat8(bytes);
  const float8 granularity = pq_getmsgfloat8(bytes);
  if (granularity != 0 || std::signbit(granularity)) given.options.granularity = granularity;
  const uint32 bins = pq_getmsgint(bytes, 4);
  if (family->takes(kBinsOption) && granularity == 0) given.options.bins = bins;

  const std::span<const double> list = receive_list(bytes);
  given.quantiles = list;
  given.size = static_cast<uint32>(list.size());
  given.bin_bounds = list;
  if (family->has(Argument::kX) && list.size() == 2) std::ranges::copy(list, given.x_bounds);
  if (family->keeps_user_rows()) {
    receive_user_options(bytes, &given);
  } else if (family->hashes_first_argument()) {
    receive_hash_options(bytes, &given);
  }
  const AggregateParameters* parameters = make_parameters(given);
  require_canonical(given, bins, list, parameters);
  return parameters;
}

void receive_user_row(StringInfo bytes, RecordsState* state) {
  UserRow row;
  row.user = static_cast<uint64>(pq_getmsgint64(bytes));
  row.grid = pq_getmsgint(bytes, 4);
  row.value = pq_getmsgint(bytes, 4);
  const uint32 grids = state->has_grid_names() ? state->grid_names()->count() : 1;
  if (row.grid >= grids) refuse_bytes("a record has an unknown grid");
  if (row.value > FixedPoint::kOne) refuse_bytes("a record lies outside the bounds");
  state->user_rows()[state->count++] = row;
}

void receive_record(StringInfo bytes, RecordsState* state) {
  if (state->kind == RecordKind::kUserRow) return receive_user_row(bytes, state);
  const float8 value = pq_getmsgfloat8(bytes);
  if (std::isnan(value)) refuse_bytes("a record is NaN");
  state->values()[state->count++] = value;
}

struct ReceivedNames {
  uint32 count;
  GridName* names;
  GridRoom room;
};

// The names are text in the server's encoding.
ReceivedNames receive_names(StringInfo bytes) {
  ReceivedNames received{};
  received.count = pq_getmsgint(bytes, 4);
  if (received.count > static_cast<uint32>(bytes->len - bytes->cursor) / sizeof(uint32)) {
    refuse_bytes("more names than bytes");
  }
  if (received.count > GridNames::kMost) refuse_bytes("more names than a group may have");
  received.names = static_cast<GridName*>(palloc(received.count * sizeof(GridName) + 1));
  received.room = {std::max(std::bit_ceil(received.count), GridNames::kFirstRoom.names),
                   GridNames::kFirstRoom.bytes};
  for (uint32 i = 0; i < received.count; ++i) {
    const uint32 length = pq_getmsgint(bytes, 4);
    if (length > static_cast<uint32>(bytes->len - bytes->cursor)) {
      refuse_bytes("a name is longer than the bytes");
    }
    const char* text = pq_getmsgbytes(bytes, static_cast<int>(length));
    if (!pg_verify_mbstr(GetDatabaseEncoding(), text, static_cast<int>(length), true)) {
      refuse_bytes("a name is not valid text");
    }
    received.names[i] = {text, length};
    received.room.bytes += length;
  }
  return received;
}

void enter_names(const ReceivedNames& received, GridNames* names) {
  for (uint32 i = 0; i < received.count; ++i) {
    CHECK_FOR_INTERRUPTS();
    if (names->find(received.names[i]) != GridNames::kNone) refuse_bytes("a name comes twice");
    names->add(received.names[i]);
  }
}

WideSum receive_wide(StringInfo bytes) {
  WideSum sum;
  sum.high = static_cast<uint64>(pq_getmsgint64(bytes));
  sum.low = static_cast<uint64>(pq_getmsgint64(bytes));
  return sum;
}

// Whether this number of rows can have such sums: 0 <= squares <= kOne * sum, and
// 0 <= count * kOne^2 - 2 kOne * sum + squares.
bool are_possible(const ValueSums& sums, KeptOfRow kept) {
  const bool has_squares = kept == KeptOfRow::kSquare;
  const bool has_values = has_squares || kept == KeptOfRow::kShiftedValue;
  const uint64 most = has_squares ? FixedPoint::kOne : 2 * SumScale::kSumOne;
  if (sums.count > kMostSummedRows) return false;
  if (sums.sum.value() > uint128_t{sums.count} * (has_values ? most : 0)) return false;
  if (!has_squares) return sums.squares == WideSum{};
  const uint128_t one = FixedPoint::kOne;
  return sums.squares.value() <= one * sums.sum.value() &&
         one * one * sums.count + sums.squares.value() >= 2 * one * sums.sum.value();
}

RecordsState* receive_sums(StringInfo bytes, const AggregateParameters* parameters) {
  ValueSums sums;
  sums.count = static_cast<uint64>(pq_getmsgint64(bytes));
  sums.sum = receive_wide(bytes);
  sums.squares = receive_wide(bytes);
  bool possible = false;
  report(guarded([&] { possible = are_possible(sums, family_of(parameters).kept); }));
  if (!possible) refuse_bytes("the sums are of no rows within the bounds");
  RecordsState* state = make_state(parameters);
  memcpy(state->records(), &sums, sizeof sums);
  return state;
}

RecordsState* receive_pairs(StringInfo bytes, const AggregateParameters* parameters) {
  PairSums pairs;
  pairs.count = static_cast<uint64>(pq_getmsgint64(bytes));
  for (WideSum& part : pairs.parts) part = receive_wide(bytes);
  bool possible = false;
  report(guarded([&] { possible = pairs.count <= kMostSummedRows && pairs.are_possible(); }));
  if (!possible) refuse_bytes("the sums are of no rows within the bounds");
  RecordsState* state = make_state(parameters);
  memcpy(state->records(), &pairs, sizeof pairs);
  return state;
}

RecordsState* receive_hashes(StringInfo bytes, const AggregateParameters* parameters,
                             uint32 count) {
  const auto left = static_cast<uint64>(bytes->len - bytes->cursor);
  if (left != uint64{count} * sizeof(uint64)) {
    refuse_bytes("number of records and bytes do not agree");
  }
  auto* state = static_cast<RecordsState*>(palloc(hashes_state_size(parameters, count)));
  init_hashes(state, parameters, count);
  for (uint32 i = 0; i < count; ++i) {
    CHECK_FOR_INTERRUPTS();
    state->hashes()[i] = static_cast<uint64>(pq_getmsgint64(bytes));
    if (i > 0 && state->hashes()[i - 1] >= state->hashes()[i]) refuse_bytes("hashes do not ascend");
  }
  return state;
}

RecordsState* receive_records(StringInfo bytes, const AggregateParameters* parameters,
                              const ReceivedNames& names, uint32 count) {
  const auto left = static_cast<uint64>(bytes->len - bytes->cursor);
  if (left != uint64{count} * record_size(method_of(parameters).records)) {
    refuse_bytes("number of records and bytes do not agree");
  }
  if (count > largest_capacity(parameters, names.room)) refuse_bytes("too many records");
  RecordsState* state = make_state(parameters, count, names.room);
  if (state->has_grid_names()) enter_names(names, state->grid_names());
  while (state->count < count) {
    CHECK_FOR_INTERRUPTS();
    receive_record(bytes, state);
  }
  return state;
}

RecordsState* receive_cells(StringInfo bytes, const AggregateParameters* parameters, uint32 count) {
  const auto left = static_cast<std::size_t>(bytes->len - bytes->cursor);
  const auto* runs = reinterpret_cast<const uint8*>(pq_getmsgbytes(bytes, static_cast<int>(left)));
  const Failure failure = guarded([&] {
    CancelPoll cancel(cancel_requested);
    check_cell_runs({runs, left}, parameters->grid.cells, count, cancel);
  });
  if (failure.sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION) refuse_bytes(failure.message);
  report(failure);
  RecordsState* state = make_runs(parameters, count, left);
  if (left > 0) memcpy(state->runs().data(), runs, left);
  return state;
}

RecordsState* receive_of_kind(StringInfo bytes, const AggregateParameters* parameters,
                              const ReceivedNames& names, uint32 count) {
  switch (method_of(parameters).records) {
    case RecordKind::kRuns:
      return receive_cells(bytes, parameters, count);
    case RecordKind::kSums:
      if (count != 1) refuse_bytes("sums are one record");
      return receive_sums(bytes, parameters);
    case RecordKind::kPairs:
      if (count != 1) refuse_bytes("sums are one record");
      return receive_pairs(bytes, parameters);
    case RecordKind::kHashes:
      return receive_hashes(bytes, parameters, count);
    case RecordKind::kValue:
    case RecordKind::kUserRow:
      break;
  }
  return receive_records(bytes, parameters, names, count);
}

// The bytes are not trusted: a user may have written them, so every field is checked.
RecordsState* receive(StringInfo bytes) {
  if (pq_getmsgbyte(bytes) != kWireVersion) refuse_bytes("unknown version");
  const AggregateParameters* parameters = receive_parameters(bytes);
  ReceivedNames names{};
  if (family_of(parameters).has(Argument::kGrid)) names = receive_names(bytes);
  const uint32 count = pq_getmsgint(bytes, 4);
  RecordsState* state = receive_of_kind(bytes, parameters, names, count);
  pq_getmsgend(bytes);
  return state;
}

void send_names(StringInfo bytes, const GridNames* names) {
  pq_sendint32(bytes, names->count());
  for (uint32 i = 0; i < names->count(); ++i) {
    const GridName name = names->name(i);
    pq_sendint32(bytes, name.length);
    pq_sendbytes(bytes, name.text, static_cast<int>(name.length));
  }
}

void send_wide(StringInfo bytes, const WideSum& sum) {
  pq_sendint64(bytes, sum.high);
  pq_sendint64(bytes, sum.low);
}

void send_sums(StringInfo bytes, const ValueSums& sums) {
  pq_sendint64(bytes, sums.count);
  send_wide(bytes, sums.sum);
  send_wide(bytes, sums.squares);
}

void send_pairs(StringInfo bytes, const PairSums& pairs) {
  pq_sendint64(bytes, pairs.count);
  for (const WideSum& part : pairs.parts) send_wide(bytes, part);
}

void send_record(StringInfo bytes, RecordsState* state, uint32 i) {
  if (state->kind == RecordKind::kSums) return send_sums(bytes, *state->sums());
  if (state->kind == RecordKind::kPairs) return send_pairs(bytes, *state->pairs());
  if (state->kind == RecordKind::kHashes) return pq_sendint64(bytes, state->hashes()[i]);
  if (state->kind == RecordKind::kValue) return pq_sendfloat8(bytes, state->values()[i]);
  const UserRow& row = state->user_rows()[i];
  pq_sendint64(bytes, row.user);
  pq_sendint32(bytes, row.grid);
  pq_sendint32(bytes, row.value);
}

// The names of all fields, so that a new one does not compile before somebody has read this: it is
// sent here and received by receive_parameters(), with a new kWireVersion. The grid follows from
// the others.
void send_parameters(StringInfo bytes, const AggregateParameters& parameters) {
  const auto& [family, method, contribution_rule, suppress, has_grid, measure, value_type,
               max_contributions, max_groups, user_key_check, guarantee, delta, lower, upper,
               granularity, bins, list_length, grid, list] = parameters;
  pq_sendbyte(bytes, static_cast<uint8>(family));
  pq_sendbyte(bytes, method);
  pq_sendbyte(bytes, static_cast<uint8>(measure));
  pq_sendbyte(bytes, static_cast<uint8>(value_type));
  pq_sendfloat8(bytes, guarantee);
  pq_sendfloat8(bytes, delta);
  pq_sendfloat8(bytes, lower);
  pq_sendfloat8(bytes, upper);
  pq_sendfloat8(bytes, granularity);
  pq_sendint32(bytes, bins);
  pq_sendint32(bytes, list_length);
  for (uint32 i = 0; i < list_length; ++i) pq_sendfloat8(bytes, list[i]);
  if (family_of(&parameters).keeps_user_rows()) {
    pq_sendbyte(bytes, static_cast<uint8>(contribution_rule));
    pq_sendbyte(bytes, suppress ? 1 : 0);
    pq_sendint32(bytes, max_contributions);
    pq_sendint64(bytes, user_key_check);
  } else if (family_of(&parameters).hashes_first_argument()) {
    pq_sendint64(bytes, user_key_check);
    if (family_of(&parameters).bounds_groups_of_users()) pq_sendint32(bytes, max_groups);
  }
}

}  // namespace

bytea* bytes_of_state(StateRef ref) {
  RecordsState* state = flatten(ref);
  StringInfoData bytes;
  pq_begintypsend(&bytes);
  pq_sendbyte(&bytes, kWireVersion);
  send_parameters(&bytes, state->parameters);
  if (state->has_grid_names()) send_names(&bytes, state->grid_names());
  pq_sendint32(&bytes, state->count);
  if (state->kind == RecordKind::kRuns) {
    pq_sendbytes(&bytes, reinterpret_cast<const char*>(state->runs().data()),
                 static_cast<int>(state->capacity));
    return pq_endtypsend(&bytes);
  }
  for (uint32 i = 0; i < state->count; ++i) {
    CHECK_FOR_INTERRUPTS();
    send_record(&bytes, state, i);
  }
  return pq_endtypsend(&bytes);
}

RecordsState* state_of_bytes(const bytea* bytes) {
  StringInfoData message;
  message.data = const_cast<char*>(VARDATA_ANY(bytes));
  message.len = message.maxlen = static_cast<int>(VARSIZE_ANY_EXHDR(bytes));
  message.cursor = 0;
  return receive(&message);
}

}  // namespace dpquantile

using namespace dpquantile;

// The text form is the binary form in PostgreSQL's text form of bytea.
DPQ_FUNCTION(dpq_state_in) {
  const bytea* bytes = DatumGetByteaPP(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
  PG_RETURN_POINTER(state_of_bytes(bytes));
}

DPQ_FUNCTION(dpq_state_out) {
  return DirectFunctionCall1(byteaout,
                             PointerGetDatum(bytes_of_state(get_state(PG_GETARG_DATUM(0)))));
}

DPQ_FUNCTION(dpq_state_recv) {
  PG_RETURN_POINTER(receive(reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0))));
}

DPQ_FUNCTION(dpq_state_send) {
  PG_RETURN_BYTEA_P(bytes_of_state(get_state(PG_GETARG_DATUM(0))));
}

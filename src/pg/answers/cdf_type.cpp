#include "pg/answers/cdf_type.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/cdf/cdf_json.hpp"
#include "pg/parameters/options.hpp"

extern "C" {
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_text(const char* detail) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                  errmsg("invalid input syntax for type dp_cdf"), errdetail("%s", detail),
                  errhint("Give the text of a dp_cdf value as a query shows it.")));
}

// Reads a JSON object field by field. require_no_more() refuses fields that nobody read.
class Fields {
 public:
  explicit Fields(Jsonb* object) : object_(object) {}

  bool has(const char* name) const { return find(name) != nullptr; }

  JsonbValue* require(const char* name, jbvType type, const char* expected) {
    JsonbValue* value = find(name);
    if (value == nullptr) refuse_text(psprintf("\"%s\" is missing.", name));
    if (value->type != type) refuse_text(psprintf("\"%s\" must be %s.", name, expected));
    ++read_;
    return value;
  }

  double number(const char* name) { return to_number(require(name, jbvNumeric, "a number")); }

  char* text(const char* name) {
    const JsonbValue* value = require(name, jbvString, "a text");
    return pnstrdup(value->val.string.val, value->val.string.len);
  }

  const double* numbers(const char* name, uint32* count) {
    JsonbContainer* list = require(name, jbvBinary, "a list of numbers")->val.binary.data;
    if (!JsonContainerIsArray(list)) {
      refuse_text(psprintf("\"%s\" must be a list of numbers.", name));
    }
    *count = JsonContainerSize(list);
    auto* numbers = static_cast<double*>(palloc((*count + 1) * sizeof(double)));
    JsonbIterator* iterator = JsonbIteratorInit(list);
    JsonbValue value;
    JsonbIteratorToken token;
    uint32 i = 0;
    while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE) {
      if (token != WJB_ELEM) continue;
      if (value.type != jbvNumeric) {
        refuse_text(psprintf("\"%s\" must be a list of numbers.", name));
      }
      numbers[i++] = to_number(&value);
    }
    return numbers;
  }

  void require_no_more() {
    if (JsonContainerSize(&object_->root) != read_) refuse_text("There is an unknown field.");
  }

 private:
  JsonbValue* find(const char* name) const {
    return getKeyJsonValueFromContainer(&object_->root, name, static_cast<int>(strlen(name)),
                                        nullptr);
  }

  static double to_number(const JsonbValue* value) {
    return DatumGetFloat8(
        DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
  }

  Jsonb* object_;
  uint32 read_ = 0;
};

// The fields of the text of a dp_cdf. Only their JSON types have been checked.
struct CdfText {
  CdfDomain domain;
  double bins;
  CdfMethod method;
  PrivacyParameter privacy;
  uint32 branching_count;
  const double* branching;
  uint32 level_count;
  const double* level_budget;
  double rows;
  uint32 count;
  const double* cumulative;
};

CdfMethod read_method(const JsonbValue* name) {
  const FamilyRow& family = row_of(Family::kCdf);
  const MethodRow* method = find_method(
      family,
      std::string_view(name->val.string.val, static_cast<std::size_t>(name->val.string.len)));
  if (method == nullptr) {
    refuse_text(psprintf("\"method\" must be one of: %s.", method_names(family)));
  }
  return static_cast<CdfMethod>(method->number);
}

// The number of a bound, which must be written as the text form writes it: its meaning must not
// depend on the session.
double read_bound(Fields& fields, const char* name, ValueType type) {
  char* given = fields.text(name);
  const double number = number_of_text(type, given);
  if (!std::isfinite(number)) refuse_text(psprintf("\"%s\" must be finite.", name));
  const char* canonical = iso_text_of_number(type, number, TextZone::kUtc);
  if (strcmp(given, canonical) != 0) {
    refuse_text(psprintf("\"%s\" must be written as \"%s\".", name, canonical));
  }
  return number;
}

// Reads the domain of a curve of dates or times.
CdfDomain read_typed_domain(Fields& fields) {
  const char* name = fields.text("type");
  const auto type = find_temporal_type(name);
  if (!type) {
    refuse_text("\"type\" must be one of: date, timestamp, timestamptz, time, interval.");
  }
  CdfDomain domain{};
  domain.value_type = static_cast<uint8>(*type);
  domain.lower = read_bound(fields, "lower", *type);
  domain.upper = read_bound(fields, "upper", *type);
  if (fields.has("granularity")) {
    const double step = read_bound(fields, "granularity", ValueType::kInterval);
    domain.granularity = step / number_of_value(ValueType::kInterval, interval_of_step(*type, 1));
  }
  return domain;
}

CdfDomain read_domain(Fields& fields) {
  if (fields.has("type")) return read_typed_domain(fields);
  CdfDomain domain{};
  domain.lower = fields.number("lower");
  domain.upper = fields.number("upper");
  if (fields.has("granularity")) domain.granularity = fields.number("granularity");
  return domain;
}

CdfText read_text(char* written) {
  Jsonb* json = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(written)));
  if (!JB_ROOT_IS_OBJECT(json)) refuse_text("It must be a JSON object.");
  Fields fields(json);
  CdfText read{};
  read.domain = read_domain(fields);
  read.bins = fields.number("bins");
  read.method = read_method(fields.require("method", jbvString, "a string"));
  const bool zcdp = fields.has("rho");
  read.privacy = {zcdp ? PrivacyMeasure::kZcdp : PrivacyMeasure::kPure,
                  fields.number(zcdp ? "rho" : "epsilon")};
  if (read.method != CdfMethod::kFactorization) {
    read.branching = fields.numbers("branching", &read.branching_count);
    read.level_budget = fields.numbers(zcdp ? "level_rho" : "level_epsilon", &read.level_count);
  }
  read.rows = fields.number("rows");
  read.cumulative = fields.numbers("cumulative", &read.count);
  fields.require_no_more();
  return read;
}

// Throws CorruptInput unless the value is a whole number from 0 to `most`.
std::int64_t whole_number(double value, double most) {
  if (value >= 0 && value <= most && value == std::floor(value)) {
    return static_cast<std::int64_t>(value);
  }
  throw CorruptInput("a count is not a whole number or out of range");
}

// Inlined, it makes GCC 16 warn of memory resources of another class.
[[gnu::noinline]] CdfCurve make_curve(const CdfText& read, std::pmr::memory_resource* memory) {
  CdfDomain domain = read.domain;
  domain.bins = static_cast<std::uint32_t>(whole_number(read.bins, LevelTree::kMaxBins));
  if (read.branching_count > LevelTree::kMaxLevels || read.branching_count != read.level_count) {
    throw CorruptInput(std::string("branching and level_") + parameter_name(read.privacy.measure) +
                       " must have one number a level");
  }
  CdfPlan plan{read.method, domain.bins, read.privacy, read.branching_count, {}, {}};
  for (std::size_t i = 0; i < plan.levels; ++i) {
    plan.branchings[i] =
        static_cast<std::uint32_t>(whole_number(read.branching[i], LevelTree::kMaxBins));
    plan.level_budgets[i] = read.level_budget[i];
  }
  std::pmr::vector<std::int64_t> cumulative(memory);
  cumulative.reserve(read.count);
  for (std::size_t i = 0; i < read.count; ++i) {
    cumulative.push_back(
        whole_number(read.cumulative[i], static_cast<double>(CdfCurve::kMostRows)));
  }
  CdfCurve curve(domain, plan, std::move(cumulative));
  if (static_cast<double>(curve.rows()) != read.rows) {
    throw CorruptInput("rows must be the last of the cumulative counts");
  }
  check_value_type(curve.domain());
  return curve;
}

// The texts of the domain of a curve of dates or times. The numbers may be any.
CdfTypeText domain_text(const CdfDomain& domain, ValueType type) {
  const double step =
      number_of_value(ValueType::kInterval, interval_of_step(type, domain.granularity));
  return {temporal_type_name(type), iso_text_of_number(type, domain.lower, TextZone::kUtc),
          iso_text_of_number(type, domain.upper, TextZone::kUtc),
          iso_text_of_number(ValueType::kInterval, step, TextZone::kUtc)};
}

CdfDomain domain_argument(FunctionCallInfo fcinfo, int number) {
  const std::span<const std::byte> bytes = cdf_argument(fcinfo, number);
  CdfDomain domain{};
  report(guarded([&] { domain = decode_cdf_domain(bytes); }));
  return domain;
}

// kFloat8 for a curve of numbers, empty for a number that is no type's
std::optional<ValueType> find_type(const CdfDomain& domain) {
  if (domain.value_type == 0) return ValueType::kFloat8;
  const auto type = find_value_type_by_number(domain.value_type);
  return type && is_temporal(*type) ? type : std::nullopt;
}

}  // namespace

bytea* make_cdf_value(const CdfCurve& curve, ContextMemory& memory) {
  const auto bytes = encode_cdf(curve, &memory);
  auto* value = static_cast<bytea*>(memory.allocate(VARHDRSZ + bytes.size(), MAXIMUM_ALIGNOF));
  SET_VARSIZE(value, VARHDRSZ + bytes.size());
  memcpy(VARDATA(value), bytes.data(), bytes.size());
  return value;
}

std::span<const std::byte> cdf_argument(FunctionCallInfo fcinfo, int number) {
  bytea* value = PG_GETARG_BYTEA_PP(number);
  return {reinterpret_cast<const std::byte*>(VARDATA_ANY(value)),
          static_cast<std::size_t>(VARSIZE_ANY_EXHDR(value))};
}

void check_value_type(const CdfDomain& domain) {
  if (domain.value_type == 0) return;
  const auto type = find_type(domain);
  if (!type) throw CorruptInput("unknown type of values");
  if (!is_number_of_value(*type, domain.lower) || !is_number_of_value(*type, domain.upper) ||
      domain.granularity != std::floor(domain.granularity)) {
    throw CorruptInput("the bounds or the granularity do not fit the type of the values");
  }
}

ValueType value_type_of_cdf(FunctionCallInfo fcinfo, int number) {
  const CdfDomain domain = domain_argument(fcinfo, number);
  report(guarded([&] { check_value_type(domain); }));
  return *find_type(domain);
}

}  // namespace dpquantile

using namespace dpquantile;

// The text form is a JSON object (core/cdf/cdf_json.hpp).
DPQ_FUNCTION(dpq_cdf_in) {
  const CdfText read = read_text(PG_GETARG_CSTRING(0));
  bytea* value = nullptr;
  MemoryContext context = CurrentMemoryContext;
  const Failure failure = guarded([&] {
    ContextMemory memory(context);
    value = make_cdf_value(make_curve(read, &memory), memory);
  });
  if (failure.sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION) {
    char* detail = psprintf("%s.", failure.message);
    detail[0] = pg_ascii_toupper(detail[0]);
    refuse_text(detail);
  }
  report(failure);
  PG_RETURN_BYTEA_P(value);
}

DPQ_FUNCTION(dpq_cdf_out) {
  char* written = nullptr;
  const ValueType type = value_type_of_cdf(fcinfo, 0);
  CdfTypeText typed{};
  if (is_temporal(type)) typed = domain_text(domain_argument(fcinfo, 0), type);
  MemoryContext context = CurrentMemoryContext;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, std::pmr::memory_resource* memory) {
    const auto json = cdf_to_json(curve, is_temporal(type) ? &typed : nullptr, memory);
    written = static_cast<char*>(ContextMemory(context).allocate(json.size() + 1, 1));
    memcpy(written, json.c_str(), json.size() + 1);
  });
  PG_RETURN_CSTRING(written);
}

DPQ_FUNCTION(dpq_cdf_recv) {
  auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = message->len - message->cursor;
  const char* received = pq_getmsgbytes(message, size);
  bytea* value = nullptr;
  MemoryContext context = CurrentMemoryContext;
  report(guarded([&] {
    ContextMemory memory(context);
    const std::span bytes(reinterpret_cast<const std::byte*>(received),
                          static_cast<std::size_t>(size));
    const CdfCurve curve = decode_cdf(bytes, &memory);
    check_value_type(curve.domain());
    value = make_cdf_value(curve, memory);
  }));
  PG_RETURN_BYTEA_P(value);
}

DPQ_FUNCTION(dpq_cdf_send) {
  const std::span<const std::byte> bytes = cdf_argument(fcinfo, 0);
  StringInfoData message;
  pq_begintypsend(&message);
  pq_sendbytes(&message, reinterpret_cast<const char*>(bytes.data()),
               static_cast<int>(bytes.size()));
  PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

#include "pg/functions/cdf_type.hpp"

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

CdfText read_text(char* written) {
  Jsonb* json = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(written)));
  if (!JB_ROOT_IS_OBJECT(json)) refuse_text("It must be a JSON object.");
  Fields fields(json);
  CdfText read{};
  read.domain.lower = fields.number("lower");
  read.domain.upper = fields.number("upper");
  if (fields.has("granularity")) read.domain.granularity = fields.number("granularity");
  read.bins = fields.number("bins");
  read.method = read_method(fields.require("method", jbvString, "a string"));
  const bool zcdp = fields.has("rho");
  read.privacy = {zcdp ? PrivacyMeasure::kZcdp : PrivacyMeasure::kPure,
                  fields.number(zcdp ? "rho" : "epsilon")};
  read.branching = fields.numbers("branching", &read.branching_count);
  read.level_budget = fields.numbers(zcdp ? "level_rho" : "level_epsilon", &read.level_count);
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
  return curve;
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
  MemoryContext context = CurrentMemoryContext;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, std::pmr::memory_resource* memory) {
    const auto json = cdf_to_json(curve, memory);
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
    value = make_cdf_value(decode_cdf(bytes, &memory), memory);
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

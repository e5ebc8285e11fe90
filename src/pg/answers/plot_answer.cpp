#include "pg/answers/plot_answer.hpp"

#include "core/plot/cdf_plot.hpp"
#include "core/plot/svg_writer.hpp"

extern "C" {
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

constexpr std::size_t kMaxTitleBytes = 1000;

PlotSize size_arguments(FunctionCallInfo fcinfo, int number, void (*check)(int64_t, int64_t)) {
  const int64 width = PG_GETARG_INT64(number);
  const int64 height = PG_GETARG_INT64(number + 1);
  report(guarded([&] { check(width, height); }));
  return {static_cast<int>(width), static_cast<int>(height), GetDatabaseEncoding() == PG_UTF8};
}

}  // namespace

PlotSize text_size_arguments(FunctionCallInfo fcinfo, int number) {
  return size_arguments(fcinfo, number, check_text_size);
}

PlotSize svg_size_arguments(FunctionCallInfo fcinfo, int number) {
  return size_arguments(fcinfo, number, check_svg_size);
}

const char* title_argument(FunctionCallInfo fcinfo, int number) {
  char* title = text_to_cstring(PG_GETARG_TEXT_PP(number));
  if (strlen(title) > kMaxTitleBytes) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("title must have at most %zu bytes, got %zu", kMaxTitleBytes, strlen(title)),
             errhint("A title that is wider than the plot is shortened anyway.")));
  }
  title = pg_server_to_any(title, static_cast<int>(strlen(title)), PG_UTF8);
  pg_verify_mbstr(PG_UTF8, title, static_cast<int>(strlen(title)), false);
  return title;
}

AxisScale axis_scale_of(ValueType type) {
  switch (type) {
    case ValueType::kDate:
      return AxisScale::kDate;
    case ValueType::kTimestamp:
    case ValueType::kTimestamptz:
      return AxisScale::kTimestamp;
    case ValueType::kTime:
      return AxisScale::kTimeOfDay;
    case ValueType::kInterval:
      return AxisScale::kDuration;
    case ValueType::kFloat8:
    case ValueType::kReal:
    case ValueType::kNumeric:
    case ValueType::kInteger:
    case ValueType::kBigint:
    case ValueType::kSmallint:
      break;
  }
  return AxisScale::kNumber;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  return all;
}

std::string in_encoding(const std::string& document, const PlotSize& size) {
  return size.utf8 ? document : xml_in_ascii(document);
}

text* make_text(const std::string& drawn, ContextMemory& memory) {
  auto* made = static_cast<text*>(memory.allocate(VARHDRSZ + drawn.size(), MAXIMUM_ALIGNOF));
  SET_VARSIZE(made, VARHDRSZ + drawn.size());
  memcpy(VARDATA(made), drawn.data(), drawn.size());
  return made;
}

Datum return_lines(FunctionCallInfo fcinfo, text* drawn) {
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const char* line = VARDATA(drawn);
  const char* const end = line + VARSIZE(drawn) - VARHDRSZ;
  while (line < end) {
    const auto* next = static_cast<const char*>(memchr(line, '\n', end - line));
    Datum value = PointerGetDatum(cstring_to_text_with_len(line, static_cast<int>(next - line)));
    bool isnull = false;
    tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
    line = next + 1;
  }
  return Datum{0};
}

}  // namespace dpquantile

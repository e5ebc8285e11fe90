#include "core/cdf/cdf_json.hpp"

#include "core/base/decimal_format.hpp"

namespace dpquantile {

namespace {

std::string text_of(double value) {
  return shortest_decimal(value);
}
std::string text_of(std::uint32_t value) {
  return std::to_string(value);
}
std::string text_of(std::int64_t value) {
  return std::to_string(value);
}

template <class Values>
void append_list(std::pmr::string& json, const char* name, const Values& values) {
  json.append(", \"").append(name).append("\": [");
  bool first = true;
  for (const auto value : values) {
    if (!first) json += ", ";
    first = false;
    json += text_of(value);
  }
  json += ']';
}

void append_number(std::pmr::string& json, const char* name, const std::string& number) {
  json.append(", \"").append(name).append("\": ").append(number);
}

}  // namespace

std::pmr::string cdf_to_json(const CdfCurve& curve, std::pmr::memory_resource* memory) {
  const CdfDomain& domain = curve.domain();
  const CdfPlan& plan = curve.plan();
  std::pmr::string json("{\"lower\": ", memory);
  json += text_of(domain.lower);
  append_number(json, "upper", text_of(domain.upper));
  if (domain.discrete()) append_number(json, "granularity", text_of(domain.granularity));
  append_number(json, "bins", std::to_string(domain.bins));
  append_number(json, "method", '"' + std::string(cdf_method_name(plan.method)) + '"');
  const std::string budget = parameter_name(plan.privacy.measure);
  append_number(json, budget.c_str(), text_of(plan.privacy.value));
  append_list(json, "branching", plan.branching());
  append_list(json, ("level_" + budget).c_str(), plan.level_budget());
  append_number(json, "rows", std::to_string(curve.rows()));
  append_list(json, "cumulative", curve.cumulative());
  json += '}';
  return json;
}

}  // namespace dpquantile

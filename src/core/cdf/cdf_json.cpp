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

void append_field(std::pmr::string& json, const char* name, const std::string& value) {
  json.append(", \"").append(name).append("\": ").append(value);
}

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::pmr::string domain_of_numbers(const CdfDomain& domain, std::pmr::memory_resource* memory) {
  std::pmr::string json("{\"lower\": ", memory);
  json += text_of(domain.lower);
  append_field(json, "upper", text_of(domain.upper));
  if (domain.discrete()) append_field(json, "granularity", text_of(domain.granularity));
  return json;
}

std::pmr::string domain_of_type(const CdfDomain& domain, const CdfTypeText& typed,
                                std::pmr::memory_resource* memory) {
  std::pmr::string json("{\"type\": ", memory);
  json += quoted(typed.type);
  append_field(json, "lower", quoted(typed.lower));
  append_field(json, "upper", quoted(typed.upper));
  if (domain.discrete()) append_field(json, "granularity", quoted(typed.granularity));
  return json;
}

}  // namespace

std::pmr::string cdf_to_json(const CdfCurve& curve, const CdfTypeText* typed,
                             std::pmr::memory_resource* memory) {
  const CdfDomain& domain = curve.domain();
  const CdfPlan& plan = curve.plan();
  std::pmr::string json =
      typed == nullptr ? domain_of_numbers(domain, memory) : domain_of_type(domain, *typed, memory);
  append_field(json, "bins", std::to_string(domain.bins));
  append_field(json, "method", quoted(cdf_method_name(plan.method)));
  const std::string budget = parameter_name(plan.privacy.measure);
  append_field(json, budget.c_str(), text_of(plan.privacy.value));
  if (plan.levels > 0) {
    append_list(json, "branching", plan.branching());
    append_list(json, ("level_" + budget).c_str(), plan.level_budget());
  }
  append_field(json, "rows", std::to_string(curve.rows()));
  append_list(json, "cumulative", curve.cumulative());
  json += '}';
  return json;
}

}  // namespace dpquantile

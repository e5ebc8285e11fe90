#pragma once

#include <optional>

#include "core/user_level/user_query.hpp"
#include "pg/parameters/family.hpp"

extern "C" {
#include "utils/jsonb.h"
}

// The options of an aggregate call: a jsonb object, best built by dp_options().
namespace dpquantile {

// The option max_contributions: how many rows of a user are kept at most.
struct ContributionLimit {
  ContributionRule rule;
  uint32 number;  // with ContributionRule::kFixed, else 0
};

// The options of a call, or what stands in for them. The numbers are validated with the other
// parameters.
struct AggregateOptions {
  Method method;
  std::optional<double> granularity;
  std::optional<double> bins;
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<ContributionLimit> max_contributions;
  std::optional<bool> suppress;
  std::optional<double> rho;
};

// The name of an option in the JSON object.
const char* option_name(Option option);

// What a call without options uses.
AggregateOptions default_options(const FamilyRow& family);

// Reads the options of a call. ereports for anything that is not an object, for an option that the
// family does not have (listing those it has), an unknown method and a value of the wrong type.
AggregateOptions parse_options(Jsonb* options, const FamilyRow& family);

// ereports unless each option is one that some family has, with a value of its type.
void check_options(Jsonb* options);

// The names of a family's methods as "a, b, c", palloc'd.
const char* method_names(const FamilyRow& family);

// Whether the text is decimal digits only, few enough for a double to hold the number exactly.
bool is_whole_number(const char* text, int length);

}  // namespace dpquantile

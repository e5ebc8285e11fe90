#pragma once

#include <optional>

#include "core/user_level/user_query.hpp"
#include "pg/parameters/family.hpp"

extern "C" {
#include "utils/jsonb.h"
}

// The options of an aggregate call: a jsonb object, usually built by dp_options() or dp_option().
namespace dpquantile {

// The option max_contributions: the most rows of a user that a mechanism keeps.
struct ContributionLimit {
  ContributionRule rule;
  uint32 number;  // with ContributionRule::kFixed, otherwise 0
};

// The options of a call; empty where an option is not given. The family's check validates the
// numbers, together with the other parameters.
struct AggregateOptions {
  Method method;
  std::optional<double> granularity;
  const char* time_granularity;  // an interval, palloc'd; null if granularity is no text
  std::optional<double> bins;
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<ContributionLimit> max_contributions;
  std::optional<bool> suppress;
  std::optional<double> rho;
};

using NumberOfOptions = std::optional<double> AggregateOptions::*;

// What an option of the JSON object is.
struct OptionRow {
  Option option;
  const char* name;
  // Reads the value. ereports if it has the wrong type, or is nothing that a family takes.
  void (*read)(const OptionRow& row, const JsonbValue& value, std::span<const FamilyRow> families,
               AggregateOptions* options);
  // For an option that is a number: the member that holds it, and a function that returns what
  // dp_option() writes for a given number. It throws ParameterError if no call accepts the number.
  NumberOfOptions number;
  double (*checked)(double given);
};

// All options. dp_options() has an argument for each of the first; dp_option() takes all.
std::span<const OptionRow> option_table();

// The row of the option with this name. ereports if there is none.
const OptionRow& find_option(std::string_view name);

// The options of a call that gives none: the family's default method.
AggregateOptions default_options(const FamilyRow& family);

// Reads the options of a call. ereports if the jsonb is not an object, if the family does not have
// an option or a method (the hint lists those it has), or if a value has the wrong type.
AggregateOptions parse_options(Jsonb* options, const FamilyRow& family);

// ereports unless every option and method belongs to some family and every value has the type of
// its option.
void check_options(Jsonb* options);

// The names of a family's methods as "a, b, c", palloc'd.
const char* method_names(const FamilyRow& family);

// Whether the text consists of 1 to 15 decimal digits, so that a double holds the number exactly.
bool is_whole_number(const char* text, int length);

}  // namespace dpquantile

#include "pg/vocabulary/total_functions.hpp"

#include <algorithm>
#include <array>

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/functions_of_dates.hpp"
#include "pg/vocabulary/functions_of_documents.hpp"
#include "pg/vocabulary/functions_of_numbers.hpp"
#include "pg/vocabulary/functions_of_others.hpp"
#include "pg/vocabulary/functions_of_texts.hpp"
#include "pg/vocabulary/functions_outside.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A line of the table, in the order of its functions.
struct Entry {
  Oid function;
  const FunctionRule* rule;
};

template <std::size_t... kSizes>
constexpr auto entries_of(const FunctionRule (&... sections)[kSizes]) {
  std::array<Entry, (kSizes + ...)> entries{};
  std::size_t number = 0;
  const auto add = [&](const auto& section) {
    for (const FunctionRule& rule : section) entries[number++] = {rule.function, &rule};
  };
  (add(sections), ...);
  std::ranges::sort(entries, {}, &Entry::function);
  return entries;
}

constexpr auto kTable =
    entries_of(functions::kOfIntegers, functions::kOfFloats, functions::kOfNumerics,
               functions::kOfDates, functions::kOfTexts, functions::kOfDocuments,
               functions::kCastsFromText, functions::kCastsToText, functions::kOfOthers,
               functions::kTakingAnyType, functions::kGivingRows, functions::kNeverCalled);

static_assert(std::ranges::adjacent_find(kTable, {}, &Entry::function) == kTable.end(),
              "a function is listed twice");

constexpr bool is_outside(const FunctionRule& rule) {
  return rule.place == CallPlace::kOutside || rule.place == CallPlace::kNever;
}

static_assert(std::ranges::all_of(functions::kTakingAnyType, is_outside) &&
                  std::ranges::all_of(functions::kGivingRows, is_outside) &&
                  std::ranges::all_of(functions::kNeverCalled, is_outside),
              "a function that is listed for outside is for inside");

constexpr char kTotal[] = "total";
constexpr char kTotalStable[] = "total_stable";

// The SQL function that calls the variant.
Oid calling_function(const FunctionRule& variant) {
  const Oid types[] = {ANYARRAYOID, OIDOID, ANYOID};
  return own_function(variant.is_stable ? kTotalStable : kTotal,
                      buildoidvector(types, lengthof(types)));
}

// The line for casts from a type to text, or null.
const FunctionRule* rule_of_output(Oid type) {
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(type, &output, &is_varlena);
  const FunctionRule* rule = find_rule(output);
  return rule != nullptr && rule->place == CallPlace::kToText ? rule : nullptr;
}

bool has_total_output(Oid type) {
  const FunctionRule* rule = rule_of_output(type);
  return rule != nullptr && rule->variant == nullptr;
}

// Null if the database does not have dpquantile.total().
FuncExpr* call_with_arguments(const FunctionRule& variant, const List* arguments,
                              Oid result_collation, Oid collation) {
  const Oid function = calling_function(variant);
  if (!OidIsValid(function)) return nullptr;
  List* all = list_make2(empty_array(variant.result), oid_constant(variant.function));
  return makeFuncExpr(function, variant.result, list_concat(all, arguments), result_collation,
                      collation, COERCE_EXPLICIT_CALL);
}

}  // namespace

int number_of_arguments(const FunctionRule& variant) {
  const Oid* end =
      std::find(std::begin(variant.arguments), std::end(variant.arguments), InvalidOid);
  return static_cast<int>(end - std::begin(variant.arguments));
}

const FunctionRule* find_rule(Oid function) {
  const auto* found = std::ranges::lower_bound(kTable, function, {}, &Entry::function);
  return found != kTable.end() && found->function == function ? found->rule : nullptr;
}

const FunctionRule* find_variant_or_cast(Oid original) {
  const FunctionRule* rule = find_rule(original);
  return rule == nullptr || rule->variant == nullptr ? nullptr : rule;
}

const FunctionRule* find_variant(Oid function) {
  const FunctionRule* rule = find_variant_or_cast(function);
  return rule == nullptr || rule->place != CallPlace::kInside ? nullptr : rule;
}

const FunctionRule* find_text_cast(Oid from, Oid to) {
  if (from == TEXTOID || from == VARCHAROID) {
    const auto* found = std::ranges::find(functions::kCastsFromText, to, &FunctionRule::result);
    return found == std::end(functions::kCastsFromText) ? nullptr : found;
  }
  const FunctionRule* rule = to == TEXTOID ? rule_of_output(from) : nullptr;
  return rule == nullptr || rule->variant == nullptr ? nullptr : rule;
}

CallTime time_of_function(Oid function) {
  const FunctionRule* rule = find_rule(function);
  return rule == nullptr ? CallTime::kOrdinary : rule->time;
}

bool is_total(Oid function) {
  const FunctionRule* rule = find_rule(function);
  return rule != nullptr && rule->place == CallPlace::kInside && rule->variant == nullptr;
}

FuncExpr* call_of_variant(const FunctionRule& variant, const Node* call, const List* arguments) {
  if (list_length(arguments) != number_of_arguments(variant)) return nullptr;
  FuncExpr* total =
      call_with_arguments(variant, arguments, exprCollation(call), exprInputCollation(call));
  if (total != nullptr) total->location = exprLocation(call);
  return total;
}

FuncExpr* cast_by_variant(const CoerceViaIO* cast, Oid to) {
  Expr* value = cast->arg;
  const Oid from = exprType(as<Node>(value));
  const FunctionRule* variant = find_text_cast(getBaseType(from), to);
  if (variant == nullptr) return nullptr;
  if (from != variant->arguments[0]) {
    const Oid collation = exprCollation(as<Node>(value));
    value = as<Expr>(
        makeRelabelType(value, variant->arguments[0], -1, collation, COERCE_IMPLICIT_CAST));
  }
  FuncExpr* total =
      call_with_arguments(*variant, list_make1(value), cast->resultcollid, InvalidOid);
  if (total != nullptr) total->location = cast->location;
  return total;
}

const FunctionRule* variant_of_call(const Node* node) {
  if (!IsA(node, FuncExpr)) return nullptr;
  const auto* call = as<FuncExpr>(node);
  if (call->funcid < FirstNormalObjectId || list_length(call->args) <= kBeforeArguments) {
    return nullptr;
  }
  const auto* original = static_cast<const Const*>(lsecond(call->args));
  if (!IsA(original, Const) || original->consttype != OIDOID) return nullptr;
  const FunctionRule* variant = find_variant_or_cast(DatumGetObjectId(original->constvalue));
  return variant != nullptr && call->funcid == calling_function(*variant) ? variant : nullptr;
}

bool is_total_text_conversion(Oid from, Oid to) {
  const bool is_text = to == TEXTOID || to == VARCHAROID || to == BPCHAROID;
  return is_text && has_total_output(from);
}

}  // namespace dpquantile

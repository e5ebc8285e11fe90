#include "pg/aggregate/call_parameters.hpp"

#include "pg/server/version.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

void check_distinct(const Aggref* call, const AggregateParameters* parameters) {
  if (call->aggdistinct == NIL || !method_of(parameters).rows_per_user_public) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("DISTINCT cannot be used with a method that treats the number of rows of each person "
              "as public"),
       errdetail("How many different rows a person has depends on the values."),
       errhint("Leave DISTINCT out, or use method bounded of dp_user_mean and dp_user_variance.")));
}

}  // namespace

namespace {

std::optional<ValueType> find_type_of_value(const Node* value) {
  if (value == nullptr) return std::nullopt;
  return find_value_type(getBaseType(exprType(value)));
}

}  // namespace

namespace {

void require_type_of_value(const Aggref* call, const FamilyRow& family, int which) {
  const Node* value = uncast_value(call, family, which);
  const auto found = find_type_of_value(value);
  const bool takes_times = !family.has(Argument::kX);
  if (found && (takes_times || !is_temporal(*found))) return;
  const char* name = get_func_name(call->aggfnoid);
  const char* type = value == nullptr ? "void" : format_type_be(exprType(value));
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("%s does not take values of type %s", name == nullptr ? "" : name, type),
                  takes_times ? errhint("It takes numbers, dates, timestamps, times and intervals.")
                              : errhint("It takes numbers.")));
}

}  // namespace

void require_value_type(const Aggref* call, const FamilyRow& family) {
  if (!family.takes_numbers()) return;
  // A superuser may combine states by an aggregate of one's own.
  const Node* first = uncast_value(call, family);
  if (first != nullptr && exprType(first) == call->aggtranstype) return;
  for (int i = 0; i < family.values_from_rows(); ++i) require_type_of_value(call, family, i);
}

ValueType type_of_rows(const Aggref* call, Family family, int which) {
  return find_type_of_value(value_argument(call, row_of(family), which))
      .value_or(ValueType::kFloat8);
}

namespace {

// The type as which an aggregate of this family computes with the values of an expression.
ValueType computed_type(const Node* value, Family family) {
  const ValueType type = find_type_of_value(value).value_or(ValueType::kFloat8);
  const bool is_whole_number = is_whole(type) && !is_temporal(type);
  const FamilyRow& row = row_of(family);
  const bool is_float8 = type == ValueType::kReal ||
                         (is_whole_number && row.takes_numbers() && !row.takes_whole_numbers());
  return is_float8 ? ValueType::kFloat8 : type;
}

const AggregateParameters* parameters_for(Family family, const Node* value, const Aggref* call,
                                          const CallArguments& arguments, uint64 user_key_check) {
  const AggregateParameters* parameters =
      read_parameters(family, computed_type(value, family), arguments, user_key_check);
  check_distinct(call, parameters);
  return parameters;
}

}  // namespace

namespace {

int released_reads = 0;

}  // namespace

void begin_released_read() {
  ++released_reads;
}

void end_released_read() {
  --released_reads;
}

bool is_below_release(const Aggref* call) {
  return released_reads > 0 || call->aggtype == INTERNALOID ||
         DO_AGGSPLIT_SKIPFINAL(call->aggsplit);
}

const Aggref* find_released_call(FunctionCallInfo fcinfo) {
  const Aggref* call = find_call(fcinfo);
  // The release node has compared the versions, before it charged, and reads states of its own
  // library only. The first row must not look the version up: that takes time, and can fail.
  if (is_below_release(call)) return call;
  if (call->aggtype == call->aggtranstype) {
    require_matching_sql();
    return call;
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the query was planned without a release node for its private answers"),
                  errdetail("Nothing was charged."),
                  errhint("Run the query again. If the error stays, another extension plans the "
                          "query in its own way.")));
}

const AggregateParameters* checked_parameters(Family family, const Aggref* call,
                                              const CallArguments& arguments,
                                              uint64 user_key_check) {
  return parameters_for(family, uncast_value(call, row_of(family)), call, arguments,
                        user_key_check);
}

const AggregateParameters* receive_call_parameters(FunctionCallInfo fcinfo, Family family,
                                                   const Aggref* call, uint64 user_key_check) {
  const int first = row_of(family).arguments_from_rows();
  return parameters_for(family, value_argument(call, row_of(family)), call,
                        received_parameters(call, first, fcinfo), user_key_check);
}

}  // namespace dpquantile

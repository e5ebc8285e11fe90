#include "pg/aggregate/call_parameters.hpp"

#include "pg/server/version.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
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

ValueType value_type_of(const Aggref* call, Family family) {
  const int place = row_of(family).arguments_from_rows() - 1;
  if (place < 0 || place >= list_length(call->aggargtypes)) return ValueType::kFloat8;
  const auto type = find_value_type(list_nth_oid(call->aggargtypes, place));
  return type.value_or(ValueType::kFloat8);
}

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
  const AggregateParameters* parameters =
      read_parameters(family, value_type_of(call, family), arguments, user_key_check);
  check_distinct(call, parameters);
  return parameters;
}

const AggregateParameters* receive_call_parameters(FunctionCallInfo fcinfo, Family family,
                                                   const Aggref* call, uint64 user_key_check) {
  const int first = row_of(family).arguments_from_rows();
  return checked_parameters(family, call, received_parameters(call, first, fcinfo), user_key_check);
}

}  // namespace dpquantile

#include "pg/release/error_notice.hpp"

#include <algorithm>
#include <cmath>

#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"
#include "pg/parameters/expected_error.hpp"
#include "pg/parameters/family.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/noted_errors.hpp"
#include "pg/server/trees.hpp"
#include "pg/server/value_type.hpp"

extern "C" {
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

bool is_asked = true;

constexpr double kTail = 0.05;

// The columns of a dp_stats: each has its error behind it.
constexpr int kCountField = 1;
constexpr int kSumField = 3;
constexpr int kMeanField = 5;
constexpr int kVarianceField = 7;
constexpr int kStddevField = 9;

// An error of exactly the half of a range has its middle.
constexpr double kBelowHalf = 1 - 0x1p-20;

bool is_number_of_rows(const FamilyRow& family) {
  return family.family == Family::kCount || family.family == Family::kValueCount ||
         family.family == Family::kDistinct;
}

bool is_statistics(const Aggref* call) {
  const char* name = get_func_name(call->aggfnoid);
  return name != nullptr && strcmp(name, "dp_stats") == 0;
}

int bit_of_field(const Node* node, const Aggref* call) {
  if (!IsA(node, FieldSelect) || !equal(as<FieldSelect>(node)->arg, call)) return 0;
  switch (as<FieldSelect>(node)->fieldnum) {
    case kCountField:
      return kNotesNumber;
    case kSumField:
      return kNotesSum;
    case kMeanField:
      return kNotesMean;
    case kVarianceField:
      return kNotesVariance;
    case kStddevField:
      return kNotesDeviation;
    default:
      return 0;
  }
}

// That of a count follows from its guarantee alone.
double error_of_count(const ReleaseCall& call) {
  double error = 0;
  report(guarded([&] {
    const PrivacyParameter privacy = privacy_of(call.drawn);
    const IntegerNoise noise(privacy, 1);
    error = static_cast<double>(integer_noise_quantile(privacy.measure, noise.spread(), kTail));
  }));
  return error;
}

// A column of an answer of dp_stats.
double number_in(const ReleaseCall& call, Datum answer, int column) {
  const auto number = static_cast<AttrNumber>(column);
  const auto type = find_value_type(get_atttype(get_typ_typrelid(call.aggref->aggtype), number));
  bool is_null = false;
  const Datum value = GetAttributeByNum(DatumGetHeapTupleHeader(answer), number, &is_null);
  return type && !is_null ? number_of_value(*type, value) : 0;
}

// Beyond `least` an answer is not mostly noise.
void note(ErrorNotes* notes, NotedKind kind, double least, double error) {
  NotedAnswers& noted = notes->noted[static_cast<int>(kind)];
  ++noted.all;
  if (error <= least) return;
  noted.least_error = noted.small == 0 ? error : std::min(noted.least_error, error);
  noted.largest_error = std::max(noted.largest_error, error);
  ++noted.small;
}

double least_mean(const ReleaseCall& call, double mean) {
  const double half = call.drawn->upper / 2 - call.drawn->lower / 2;
  return std::min(std::abs(mean), half * kBelowHalf);
}

// The largest deviation is half of the width of the bounds.
double least_spread(const ReleaseCall& call, double spread, bool is_variance) {
  const double largest = call.drawn->upper / 2 - call.drawn->lower / 2;
  return std::min(spread, (is_variance ? largest * largest : largest) / 2 * kBelowHalf);
}

void note_statistics(ErrorNotes* notes, const ReleaseCall& call, int bits, Datum answer) {
  const auto value = [&](int column) { return number_in(call, answer, column); };
  if ((bits & kNotesNumber) != 0) {
    note(notes, NotedKind::kCount, std::abs(value(kCountField)), value(kCountField + 1));
  }
  if ((bits & kNotesSum) != 0) {
    note(notes, NotedKind::kSum, std::abs(value(kSumField)), value(kSumField + 1));
  }
  if ((bits & kNotesMean) != 0) {
    note(notes, NotedKind::kMean, least_mean(call, value(kMeanField)), value(kMeanField + 1));
  }
  if ((bits & kNotesVariance) != 0) {
    note(notes, NotedKind::kVariance, least_spread(call, value(kVarianceField), true),
         value(kVarianceField + 1));
  }
  if ((bits & kNotesDeviation) != 0) {
    note(notes, NotedKind::kDeviation, least_spread(call, value(kStddevField), false),
         value(kStddevField + 1));
  }
}

double hours_of(ValueType type, double number) {
  constexpr double kHoursOfDay = 24;
  constexpr double kMicrosecondsOfHour = 3600e6;
  return type == ValueType::kDate ? number * kHoursOfDay : number / kMicrosecondsOfHour;
}

bool is_variance(const Aggref* call) {
  const char* name = get_func_name(call->aggfnoid);
  return name != nullptr && strncmp(name, "dp_var", strlen("dp_var")) == 0;
}

// A sum, a mean or a spread alone.
void note_value(ErrorNotes* notes, const ReleaseCall& call, double error, Datum answer) {
  const auto type = find_value_type(call.aggref->aggtype);
  if (!type) return;
  const double value = number_of_value(*type, answer);
  if (call.family->family == Family::kMoments) {
    if (is_temporal(*type)) return;
    const bool is_of_squares = is_variance(call.aggref);
    return note(notes, is_of_squares ? NotedKind::kVariance : NotedKind::kDeviation,
                least_spread(call, value, is_of_squares), error);
  }
  const bool is_mean = call.family->family == Family::kMean;
  const double least = is_mean ? least_mean(call, value) : std::abs(value);
  if (is_temporal(*type)) {
    note(notes, is_mean ? NotedKind::kMeanOfTimes : NotedKind::kSumOfTimes, hours_of(*type, least),
         hours_of(*type, error));
  } else {
    note(notes, is_mean ? NotedKind::kMean : NotedKind::kSum, least, error);
  }
}

// `error`: of the covariance, as a part of it.
void note_pair(ErrorNotes* notes, double error) {
  note(notes, NotedKind::kPair, 1, error);
}

void note_count(ErrorNotes* notes, const ReleaseCall& call, double error, Datum answer) {
  const bool is_distinct = call.family->family == Family::kDistinct;
  note(notes, is_distinct ? NotedKind::kDistinct : NotedKind::kCount,
       static_cast<double>(DatumGetInt64(answer)), error);
}

// ---- Percentiles ---------------------------------------------------------------------------

// The noisy number of the rows of a percentile, if a call beside it counts them, or more.
std::optional<double> rows_beside(std::span<const ReleaseCall> calls, const ReleaseCall& percentile,
                                  const TupleTableSlot* answer) {
  std::optional<double> rows;
  for (const ReleaseCall& call : calls) {
    const Family family = call.family->family;
    const bool counts = family == Family::kCount || family == Family::kValueCount;
    if (!counts && !is_statistics(call.aggref)) continue;
    if (!equal(call.aggref->aggfilter, percentile.aggref->aggfilter)) continue;
    if (answer->tts_isnull[call.column - 1]) continue;
    const Datum value = answer->tts_values[call.column - 1];
    const double number =
        counts ? static_cast<double>(DatumGetInt64(value)) : number_in(call, value, kCountField);
    rows = std::min(rows.value_or(number), number);
  }
  return rows;
}

// An answer is mostly noise where its rank may be off by half of the rows.
void note_percentile(ErrorNotes* notes, double ranks, std::optional<double> rows) {
  if (ranks == 0) return;
  if (rows) return note(notes, NotedKind::kPercentile, 0, 2 * ranks >= *rows ? 1 : 0);
  notes->rows_of_percentiles = std::max(notes->rows_of_percentiles, std::ceil(2 * ranks));
}

// ---- The notices ---------------------------------------------------------------------------

const char* rounded_error(double error) {
  return psprintf(error >= 100 ? "%.0f" : "%.3g", error);
}

const char* range_of(const NotedAnswers& noted) {
  const char* least = rounded_error(noted.least_error);
  const char* largest = rounded_error(noted.largest_error);
  return strcmp(least, largest) == 0 ? least : psprintf("%s to %s", least, largest);
}

void add(NotedAnswers* sum, const NotedAnswers& noted) {
  sum->all += noted.all;
  if (noted.small == 0) return;
  sum->least_error =
      sum->small == 0 ? noted.least_error : std::min(sum->least_error, noted.least_error);
  sum->largest_error = std::max(sum->largest_error, noted.largest_error);
  sum->small += noted.small;
}

}  // namespace

int noted_answers(const PlannerInfo* root, const Aggref* call) {
  const FamilyRow& family = *private_family(call);
  if (is_number_of_rows(family)) return kNotesNumber;
  if (family.family == Family::kSum) return kNotesSum;
  if (family.family == Family::kMean) return kNotesMean;
  if (family.family == Family::kQuantiles) return kNotesPercentile;
  if (family.family == Family::kCovariance || family.family == Family::kRegression) {
    return kNotesPair;
  }
  if (family.family != Family::kMoments) return 0;
  if (!is_statistics(call)) return is_variance(call) ? kNotesVariance : kNotesDeviation;
  int bits = 0;
  const auto look = [&](const Node* node) { bits |= bit_of_field(node, call); };
  visit_nodes(root->processed_tlist, look);
  visit_nodes(root->parse->havingQual, look);
  return bits;
}

bool has_error_beside(const ReleaseCall& call, int noted) {
  switch (call.family->family) {
    case Family::kSum:
    case Family::kMean:
    case Family::kCovariance:
    case Family::kRegression:
      return noted != 0;
    case Family::kMoments:
      return noted != 0 && !is_statistics(call.aggref);
    default:
      return false;
  }
}

void begin_notes(ErrorNotes* notes, std::span<const ReleaseCall> calls, const EState* state) {
  NotedErrors mark;
  notes->are_made = is_asked && find_mark(state->es_plannedstmt->rtable, &mark) && mark.are_noted;
  if (!notes->are_made) return;
  if (notes->errors == nullptr) {
    notes->errors = static_cast<double*>(
        MemoryContextAllocZero(state->es_query_cxt, sizeof(double) * calls.size()));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (is_number_of_rows(*calls[i].family)) notes->errors[i] = error_of_count(calls[i]);
    if (calls[i].family->family == Family::kQuantiles) {
      notes->errors[i] = rank_error_at_least(calls[i].drawn, calls[i].method, kTail);
    }
  }
}

void note_answer(ErrorNotes* notes, std::span<const ReleaseCall> calls, const List* bits,
                 const TupleTableSlot* answer) {
  if (!notes->are_made) return;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ReleaseCall& call = calls[i];
    const int asked = list_nth_int(bits, static_cast<int>(i));
    if (asked == 0 || answer->tts_isnull[call.column - 1]) continue;
    const Datum value = answer->tts_values[call.column - 1];
    if (is_number_of_rows(*call.family)) {
      note_count(notes, call, notes->errors[i], value);
    } else if (asked == kNotesPercentile) {
      note_percentile(notes, notes->errors[i], rows_beside(calls, call, answer));
    } else if (asked == kNotesPair && call.error_column != 0) {
      note_pair(notes, DatumGetFloat8(answer->tts_values[call.error_column - 1]));
    } else if (call.error_column != 0) {
      note_value(notes, call, DatumGetFloat8(answer->tts_values[call.error_column - 1]), value);
    } else {
      note_statistics(notes, call, asked, value);
    }
  }
}

void add_notes(ErrorNotes* sum, const ErrorNotes& notes) {
  for (int kind = 0; kind < kNotedKinds; ++kind) add(&sum->noted[kind], notes.noted[kind]);
  sum->rows_of_percentiles = std::max(sum->rows_of_percentiles, notes.rows_of_percentiles);
}

namespace {

constexpr char kTurnsOff[] = "SET dpquantile.note_errors = off turns this notice off.";

bool has_error(int kind) {
  return kind < static_cast<int>(NotedKind::kPair);
}

void tell_of_small_answers(const char* answers, const char* example, bool are_of_few_rows) {
  ereport(NOTICE,
          (errmsg("answers are smaller than their errors%s: %s",
                  are_of_few_rows ? ", or of few rows" : "", answers),
           errdetail("Such an answer is mostly noise%s.",
                     example != nullptr ? ": in 95 of 100 answers the one without noise is within "
                                          "the error"
                                        : ""),
           example != nullptr
               ? errhint("Ask for fewer groups, or of more rows. dp_error_of(%s) beside %s tells "
                         "the error of each answer. %s",
                         example, example, kTurnsOff)
               : errhint("Ask for fewer groups, or of more rows. %s", kTurnsOff)));
}

void tell_of_percentiles(double rows) {
  ereport(NOTICE,
          (errmsg("percentiles of fewer than %.0f rows are mostly noise", rows),
           errdetail("Where values are spread evenly, one in 20 answers is off by half of so "
                     "many ranks or more, elsewhere more are."),
           errhint("count(*) beside them tells how many rows there are. %s", kTurnsOff)));
}

}  // namespace

bool tell_of_notes(const ErrorNotes& notes) {
  constexpr const char* kNames[kNotedKinds] = {"counts",
                                               "counts of different values",
                                               "sums",
                                               "means",
                                               "variances",
                                               "deviations",
                                               "sums of times",
                                               "means of times",
                                               "statistics of pairs",
                                               "percentiles"};
  constexpr const char* kExamples[kNotedKinds] = {
      "count(*)",  "count(DISTINCT x)", "sum(x)",       "avg(x)", "variance(x)",
      "stddev(x)", "sum(seconds)",      "avg(seconds)", nullptr,  nullptr};
  const auto is_of_times = [](int kind) {
    return kind == static_cast<int>(NotedKind::kSumOfTimes) ||
           kind == static_cast<int>(NotedKind::kMeanOfTimes);
  };
  const char* example = nullptr;
  bool are_of_few_rows = false;
  StringInfoData text;
  initStringInfo(&text);
  for (int kind = 0; kind < kNotedKinds; ++kind) {
    const NotedAnswers& noted = notes.noted[kind];
    if (noted.small == 0) continue;
    if (example == nullptr) example = kExamples[kind];
    appendStringInfo(&text, "%s" UINT64_FORMAT " of " UINT64_FORMAT " %s",
                     text.len == 0 ? "" : ", ", noted.small, noted.all, kNames[kind]);
    are_of_few_rows = are_of_few_rows || kind == static_cast<int>(NotedKind::kPercentile);
    if (!has_error(kind)) continue;
    appendStringInfo(&text, " (+- %s%s)", range_of(noted), is_of_times(kind) ? " hours" : "");
  }
  if (text.len > 0) tell_of_small_answers(text.data, example, are_of_few_rows);
  constexpr double kFew = 10;  // of which nobody asks a percentile
  const bool tells_of_percentiles = notes.rows_of_percentiles > kFew;
  if (tells_of_percentiles) tell_of_percentiles(notes.rows_of_percentiles);
  return text.len > 0 || tells_of_percentiles;
}

void install_error_notice() {
  DefineCustomBoolVariable("dpquantile.note_errors",
                           "Whether a notice tells that answers are smaller than their errors.",
                           "Of count, sum and avg over protected tables, without dp_error_of.",
                           &is_asked, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

}  // namespace dpquantile

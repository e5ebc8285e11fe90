#include "pg/release/error_notice.hpp"

#include <algorithm>
#include <cmath>

#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"
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
  // An error of exactly the half has the middle of the bounds.
  return std::min(std::abs(mean), half * (1 - 0x1p-20));
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
}

double hours_of(ValueType type, double number) {
  constexpr double kHoursOfDay = 24;
  constexpr double kMicrosecondsOfHour = 3600e6;
  return type == ValueType::kDate ? number * kHoursOfDay : number / kMicrosecondsOfHour;
}

// A sum or a mean alone.
void note_value(ErrorNotes* notes, const ReleaseCall& call, double error, Datum answer) {
  const auto type = find_value_type(call.aggref->aggtype);
  if (!type) return;
  const double value = number_of_value(*type, answer);
  const bool is_mean = call.family->family == Family::kMean;
  const double least = is_mean ? least_mean(call, value) : std::abs(value);
  if (is_temporal(*type)) {
    note(notes, is_mean ? NotedKind::kMeanOfTimes : NotedKind::kSumOfTimes, hours_of(*type, least),
         hours_of(*type, error));
  } else {
    note(notes, is_mean ? NotedKind::kMean : NotedKind::kSum, least, error);
  }
}

void note_count(ErrorNotes* notes, const ReleaseCall& call, double error, Datum answer) {
  const bool is_distinct = call.family->family == Family::kDistinct;
  note(notes, is_distinct ? NotedKind::kDistinct : NotedKind::kCount,
       static_cast<double>(DatumGetInt64(answer)), error);
}

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
  if (!is_statistics(call)) return 0;
  int bits = 0;
  const auto look = [&](const Node* node) { bits |= bit_of_field(node, call); };
  visit_nodes(root->processed_tlist, look);
  visit_nodes(root->parse->havingQual, look);
  return bits;
}

bool has_error_beside(const ReleaseCall& call, int noted) {
  return noted != 0 &&
         (call.family->family == Family::kSum || call.family->family == Family::kMean);
}

void begin_notes(ErrorNotes* notes, std::span<const ReleaseCall> calls, const EState* state) {
  NotedErrors mark;
  notes->are_made = is_asked && find_mark(state->es_plannedstmt->rtable, &mark) && mark.are_noted;
  if (!notes->are_made) return;
  if (notes->count_errors == nullptr) {
    notes->count_errors = static_cast<double*>(
        MemoryContextAllocZero(state->es_query_cxt, sizeof(double) * calls.size()));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (is_number_of_rows(*calls[i].family)) notes->count_errors[i] = error_of_count(calls[i]);
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
      note_count(notes, call, notes->count_errors[i], value);
    } else if (call.error_column != 0) {
      note_value(notes, call, DatumGetFloat8(answer->tts_values[call.error_column - 1]), value);
    } else {
      note_statistics(notes, call, asked, value);
    }
  }
}

void add_notes(ErrorNotes* sum, const ErrorNotes& notes) {
  for (int kind = 0; kind < kNotedKinds; ++kind) add(&sum->noted[kind], notes.noted[kind]);
}

bool tell_of_notes(const ErrorNotes& notes) {
  constexpr const char* kNames[kNotedKinds] = {
      "counts", "counts of different values", "sums", "means", "sums of times", "means of times"};
  constexpr const char* kExamples[kNotedKinds] = {"count(*)", "count(DISTINCT x)", "sum(x)",
                                                  "avg(x)",   "sum(seconds)",      "avg(seconds)"};
  constexpr auto kFirstOfTimes = static_cast<int>(NotedKind::kSumOfTimes);
  const char* example = nullptr;
  StringInfoData text;
  initStringInfo(&text);
  for (int kind = 0; kind < kNotedKinds; ++kind) {
    const NotedAnswers& noted = notes.noted[kind];
    if (noted.small == 0) continue;
    if (example == nullptr) example = kExamples[kind];
    appendStringInfo(&text, "%s" UINT64_FORMAT " of " UINT64_FORMAT " %s (+- %s%s)",
                     text.len == 0 ? "" : ", ", noted.small, noted.all, kNames[kind],
                     range_of(noted), kind < kFirstOfTimes ? "" : " hours");
  }
  if (text.len == 0) return false;
  ereport(NOTICE,
          (errmsg("answers are smaller than their errors: %s", text.data),
           errdetail("Such an answer is mostly noise: in 95 of 100 answers the one without noise "
                     "is within the error."),
           errhint("Ask for fewer groups, or of more rows. dp_error_of(%s) beside %s tells the "
                   "error of each answer. SET dpquantile.note_errors = off turns this notice off.",
                   example, example)));
  return true;
}

void install_error_notice() {
  DefineCustomBoolVariable("dpquantile.note_errors",
                           "Whether a notice tells that answers are smaller than their errors.",
                           "Of count, sum and avg over protected tables, without dp_error_of.",
                           &is_asked, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

}  // namespace dpquantile

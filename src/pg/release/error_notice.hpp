#pragma once

#include <span>

#include "pg/release/release_call.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
}

// A notice that answers are smaller than their errors: such a count, sum, mean, variance or
// deviation is mostly noise, and who asks plain SQL sees no error beside it. So is one whose error
// is half of the range of possible answers: the middle is as near; and a correlation or the like
// whose covariance is smaller than its error. It also names percentiles whose rank may be off by
// half of the rows that are counted beside them. Without a count beside percentiles another notice
// tells of how many rows they would be mostly noise. Both follow from the parameters and from the
// releases of the answers that are shown, so they cost no privacy. They come once a statement, when
// rows have been shown, also of kept answers, and only for plans with the mark NotedErrors.
namespace dpquantile {

// Which answers of a release node are compared with their errors, as bits.
inline constexpr int kNotesNumber = 1;  // a count, also of a dp_stats
inline constexpr int kNotesMean = 2;
inline constexpr int kNotesSum = 4;
inline constexpr int kNotesVariance = 8;
inline constexpr int kNotesDeviation = 16;
inline constexpr int kNotesPair = 32;  // a covariance, a correlation or of a regression
inline constexpr int kNotesPercentile = 64;

// Those of a call of a query level: each column of a dp_stats that the level uses.
int noted_answers(const PlannerInfo* root, const Aggref* call);

// Whether the error of each answer stands beside it (ReleaseCall::error_column), because it follows
// neither from the parameters nor from the answer. `noted`: of noted_answers().
bool has_error_beside(const ReleaseCall& call, int noted);

// What a release node has shown of one kind of answers.
struct NotedAnswers {
  uint64 all;
  uint64 small;  // those that are mostly noise
  double least_error;
  double largest_error;  // of those
};

// Those from kPair on have no errors of their own.
enum class NotedKind {
  kCount,
  kDistinct,
  kSum,
  kMean,
  kVariance,
  kDeviation,
  kSumOfTimes,
  kMeanOfTimes,
  kPair,
  kPercentile,
};
inline constexpr int kNotedKinds = 10;

// What a release node has shown. It is zero before the first execution.
struct ErrorNotes {
  bool are_made;
  // An array with one number for each call: the error of a count, or by how many ranks percentiles
  // may be off (rank_error_at_least), 0 if that is not known.
  double* errors;
  // Percentiles without a count beside them are mostly noise if they are of fewer rows. 0 if there
  // are none.
  double rows_of_percentiles;
  NotedAnswers noted[kNotedKinds];
};

// Begins to note the answers of an execution, whose calls are prepared. Notes none in a plan
// without the mark.
void begin_notes(ErrorNotes* notes, std::span<const ReleaseCall> calls, const EState* state);

// Notes an answer that is shown, with all columns of SortedAnswers. `bits`: of each call, of
// noted_answers().
void note_answer(ErrorNotes* notes, std::span<const ReleaseCall> calls, const List* bits,
                 const TupleTableSlot* answer);

// Adds what another node of the statement has shown.
void add_notes(ErrorNotes* sum, const ErrorNotes& notes);

// Sends the notices that there are reasons for. Returns whether there are.
bool tell_of_notes(const ErrorNotes& notes);

// Defines the setting that turns the notice off. Call it once, when the library is loaded.
void install_error_notice();

}  // namespace dpquantile

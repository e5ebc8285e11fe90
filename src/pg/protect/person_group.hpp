#pragma once

#include "pg/protect/judged_level.hpp"

// A person group: GROUP BY over protected rows of which one key identifies the persons, below a
// private aggregate. Each group has rows of one person alone, so that what is shown of it is a
// function of the rows of this person: rows of persons again (Lemma 34h of
// docs/privacy/relations.md). One row for each person needs no limit of rows, and its aggregates
// answer with all their epsilon.
namespace dpquantile {

// Checks and rewrites a person group whose entries are known. It must have its plain form
// (pg/plain/query_around.hpp).
void check_person_group(JudgedLevel* level);

}  // namespace dpquantile

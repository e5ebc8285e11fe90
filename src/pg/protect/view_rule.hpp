#pragma once

#include "pg/grants/view_query.hpp"
#include "pg/protect/judged_level.hpp"

// Protected views that do more than choose rows and columns of one table: they join tables, group
// the rows of persons, number them. Such a view is a derived table of the tables that it reads, and
// all rules judge it as if the query around had one in its place. The tables protect persons by
// themselves, of the view's unit; the user has private access to the view, and needs none to them.
// What the rules find is then compared with what the owner has stated of the view. From there on
// its rows are those of the view, as those of a table are (Lemma 34v of docs/privacy/relations.md).
namespace dpquantile {

// ereports unless what a level in such a view reads of a table that is not protected is what the
// user could read: whoever wrote the view may have had other rows in mind.
void check_public_table(const JudgedLevel* level, const Entry& read);

// ereports if a release block is in such a view: nobody has granted private access to what it
// reads.
void check_is_of_analyst(const JudgedLevel* block);

// Makes the rows of a level, which is the query of such a view and has been judged, rows of the
// view. ereports if they are not of the persons that the view protects.
void make_rows_of_view(JudgedLevel* level, BorrowedRelation* view);

}  // namespace dpquantile

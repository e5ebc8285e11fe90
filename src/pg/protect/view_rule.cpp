#include "pg/protect/view_rule.hpp"

#include "pg/facts/shared_rows.hpp"
#include "pg/protect/table_rule.hpp"
#include "pg/protect/user_of_row.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_view(const JudgedLevel* level, const BorrowedRelation* view,
                              const char* reason, const char* hint) {
  refuse_with_code(level->statement->refused, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                   psprintf("view \"%s\" %s", name_of(view), reason), hint);
}

const char* stated(const NameData& unit) {
  return NameStr(unit)[0] == '\0' ? "none" : psprintf("\"%s\"", NameStr(unit));
}

// The tables and the view have one owner and one unit, and protect the same thing.
void check_relation(const JudgedLevel* level, const BorrowedRelation* view,
                    const BorrowedRelation* read) {
  const Oid owner = owner_of(view->permissions->relid);
  if (!OidIsValid(owner) || owner != owner_of(read->permissions->relid)) {
    refuse_view(level, view, psprintf("and \"%s\", which it reads, have two owners", name_of(read)),
                "The owner of the tables makes and protects the view.");
  }
  if (!read->is_referenced && !OidIsValid(read->permissions->checkAsUser)) {
    refuse_view(level, view,
                psprintf("reads \"%s\" with the rights of whoever asks", name_of(read)),
                "Take the option security_invoker from the views in it.");
  }
  if ((view->user_column == 0) != (read->user_column == 0)) {
    refuse_view(level, view,
                psprintf(view->user_column == 0
                             ? "protects single rows, but reads \"%s\", which protects persons"
                             : "protects persons, but reads \"%s\", which protects single rows",
                         name_of(read)),
                "Protect both with user_id, the column that identifies the persons.");
  }
  if (strcmp(NameStr(view->unit), NameStr(read->unit)) != 0) {
    refuse_view(level, view,
                psprintf("has another unit (%s) than \"%s\", which it reads (%s)",
                         stated(view->unit), name_of(read), stated(read->unit)),
                "State one unit for the view and for all protected tables that it reads.");
  }
  // The tables that another view reads have been looked at.
  if (NameStr(view->unit)[0] == '\0' || !OidIsValid(read->table)) return;
  check_unit_of_shared_rows(level->statement->refused, read->table, NameStr(view->unit), owner);
}

void check_user_column(const JudgedLevel* level, const BorrowedRelation* view) {
  if (view->user_column == 0) return;
  const List* columns = level->query->targetList;
  const bool is_shown = view->user_column > 0 && view->user_column <= list_length(columns);
  const auto* column =
      is_shown ? static_cast<const TargetEntry*>(list_nth(columns, view->user_column - 1))
               : nullptr;
  if (column != nullptr && is_user_of_row(level, as<Node>(column->expr))) return;
  refuse_view(level, view,
              psprintf("has a column \"%s\" that is not the one of the persons whose rows it has",
                       user_of(view) == nullptr ? "?" : user_of(view)),
              "Name the column that shows the persons as they are; after an outer join, those of "
              "the table whose rows it keeps.");
}

}  // namespace

void check_public_table(const JudgedLevel* level, const Entry& read) {
  const JudgedStatement* statement = level->statement;
  if (level->within == nullptr || !read.is_in_from) return;
  RelationPermissions* permissions = permissions_of(level->query, read.table);
  if (permissions == nullptr) return;
  const char* name = get_rel_name(permissions->relid);
  if (has_row_security(permissions->relid)) {
    refuse_view(level, level->within,
                psprintf("reads \"%s\", which has row security and is not protected", name),
                "Leave the table out, or end its row security.");
  }
  if (OidIsValid(statement->reader) && !may_select(permissions, statement->reader)) {
    refuse_view(
        level, level->within,
        psprintf("reads \"%s\", which is neither protected nor may role %s read it", name,
                 GetUserNameFromId(statement->reader, true)),
        "Ask its owner to protect the table, with the persons and the unit of the view, or, "
        "if it is public, to grant SELECT on it.");
  }
  // PostgreSQL checks it again when the query runs.
  permissions->checkAsUser = InvalidOid;
}

void check_is_of_analyst(const JudgedLevel* block) {
  if (block->within == nullptr) return;
  refuse_view(block, block->within, "aggregates rows of several persons",
              "Group by the column that identifies the persons: GROUP BY person. Who asks the view "
              "aggregates over persons.");
}

void make_rows_of_view(JudgedLevel* level, BorrowedRelation* view) {
  if (level->type != RelationType::kRows) {
    refuse_view(
        level, view, "joins or combines rows, but reads no protected ones",
        "Protect the tables first that it reads, with the persons and the unit of the view.");
  }
  if (level->has_public_side) {
    refuse_view(level, view, "keeps public rows of nobody by an outer join",
                "Write the outer join in the queries of the view.");
  }
  for (const auto* read : each<const BorrowedRelation>(level->relations)) {
    check_relation(level, view, read);
  }
  check_user_column(level, view);
  level->has_person_groups |= list_length(level->relations) > 1;
  level->relations = list_make1(view);
  level->limiting_relations = level->has_one_row ? NIL : list_make1(view);
  level->user_relation = view;
  level->view = view;
  level->view_user_column = view->user_column;
  view->table = InvalidOid;
}

}  // namespace dpquantile

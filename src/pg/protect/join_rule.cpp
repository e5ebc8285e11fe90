#include "pg/protect/join_rule.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/key_comparison.hpp"
#include "pg/protect/public_level.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/protect/unit_join.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kJoinHint[] =
    "Join tables by all columns of a primary key or unique index, with values of the same types: "
    "FROM staff JOIN department d ON d.id = staff.department.";

constexpr char kRangeHint[] =
    "A row may lie in several ranges. Write them as CASE in GROUP BY: CASE WHEN amount < 50 THEN "
    "'low' ELSE 'high' END. Or ask for each row of the table, each with a charge: SELECT t.name, "
    "(SELECT count(*) FROM visits v WHERE v.amount >= t.low AND v.amount < t.high) FROM tiers t. "
    "Or join a table with a row for each value by its key: JOIN calendar c ON c.day = visits.day.";

constexpr char kLevelHint[] =
    "Compare all columns of a key by =, as they are in a table: write SELECT DISTINCT of these "
    "columns alone, IN or EXISTS, or name a unique key of each table.";

constexpr char kTableHint[] =
    "Join the table itself by a unique key, with conditions on it in ON, a view as (SELECT * FROM "
    "v), or a list: VALUES of constants, generate_series or unnest.";

constexpr char kOneByOneHint[] =
    "Join one table after the other to the protected rows: FROM staff JOIN department d ON d.id = "
    "staff.department JOIN city c ON c.name = staff.city.";

constexpr char kPublicSideHint[] =
    "Keep the rows of one public table, and join the others to the protected rows: FROM city c "
    "LEFT JOIN (staff s LEFT JOIN department d ON d.id = s.department) ON s.city = c.name.";

// A part of FROM.
struct Part {
  Bitmapset* entries;
  bool has_rows;  // the protected rows are in it; otherwise only tables
  // The entry with the column of the users of these rows; 0 if they only refer to rows with users.
  int user;
  // The entries of which the column of users has the user in all of these rows: not those that an
  // outer join may make NULL.
  Bitmapset* users;
  // Whether an outer join keeps rows of a public table beside these rows.
  bool has_public_side;
  // The conditions by which inner joins join the tables of a part with each other.
  List* conditions;
};

struct Walk {
  JudgedLevel* level;
  List* where;  // conditions of WHERE, which AND combines
};

[[noreturn]] void refuse_join(const JudgedLevel* level, const Node* at, const char* reason,
                              const char* hint = kJoinHint) {
  refuse(level->statement->refused, at == nullptr ? kNowhere : exprLocation(at), reason, hint);
}

[[noreturn]] void refuse_type_of_join(const JudgedLevel* level, const Node* at) {
  refuse_join(level, at, "only inner, left and right joins of protected rows are supported",
              "Write LEFT JOIN, RIGHT JOIN or JOIN.");
}

// A table that is protected through another one gets its users from the rows that it refers to.
bool has_own_users(const JudgedEntry& entry) {
  return entry.relation != nullptr && !OidIsValid(entry.relation->through);
}

Part part_of_entry(JudgedLevel* level, int number) {
  const JudgedEntry& entry = entry_of(level, number);
  const bool has_rows = entry.relation != nullptr || entry.source != nullptr;
  if (!has_rows) describe_list(level, number);
  if (!has_rows && !is_list(entry)) describe_public_level(level, number);
  if (!has_rows && !entry.is_joined_table && !is_list(entry) && entry.public_level == nullptr) {
    refuse_join(level, nullptr,
                psprintf("\"%s\" cannot be joined with protected rows: it is neither an ordinary "
                         "table without children and row security nor a list of constants",
                         rt_fetch(number, level->query->rtable)->eref->aliasname),
                kTableHint);
  }
  const bool has_public_side = entry.source != nullptr && entry.source->has_public_side;
  const bool has_users = entry.source != nullptr || has_own_users(entry);
  return {bms_make_singleton(number),
          has_rows,
          has_users ? number : 0,
          has_users ? bms_make_singleton(number) : nullptr,
          has_public_side,
          NIL};
}

// An outer join may put NULLs in the place of these entries.
void set_absent(JudgedLevel* level, const Bitmapset* entries) {
  int number = -1;
  while ((number = bms_next_member(entries, number)) >= 0) {
    entry_of(level, number).may_be_absent = true;
  }
}

void set_public(JudgedLevel* level, const Bitmapset* entries, bool are_public) {
  int number = -1;
  while ((number = bms_next_member(entries, number)) >= 0) {
    entry_of(level, number).is_public = are_public;
  }
}

// Whether conditions choose at most one row of the table for a row, and a hash join finds it.
bool finds_row(const Walk& walk, const Part& rows, int table, const List* conditions) {
  return can_be_hashed(conditions, table, rows.entries) &&
         fixes_row(walk.level, table, conditions, rows.entries);
}

// Whether a condition compares the table with rows by another operator than =.
bool compares_ranges(const Part& rows, int table, const List* conditions) {
  for (auto* condition : each<Node>(conditions)) {
    if (!IsA(condition, OpExpr)) continue;
    const auto* comparison = as<OpExpr>(condition);
    const Bitmapset* entries = pull_varnos(nullptr, condition);
    const bool is_equality = op_mergejoinable(
        comparison->opno, exprType(static_cast<Node*>(linitial(comparison->args))));
    if (!is_equality && bms_is_member(table, entries) && bms_overlap(entries, rows.entries)) {
      return true;
    }
  }
  return false;
}

[[noreturn]] void refuse_multiplying_list(const Walk& walk, int list, const Node* at) {
  const char* name = rt_fetch(list, walk.level->query->rtable)->eref->aliasname;
  refuse_join(
      walk.level, at,
      psprintf("the join may multiply protected rows: a row may match several rows of \"%s\"",
               name),
      "Compare the column itself, or several columns in which no two rows are equal, by = alone, "
      "without a cast or function around it, with a value of its type: extract(year FROM "
      "hired)::int = y, or date_trunc('month', hired) = m in the place of hired >= m AND hired < m "
      "+ interval '1 month'. For other conditions ask once for each value, each with a charge: "
      "SELECT y, (SELECT count(*) FROM staff WHERE hired < y) FROM (VALUES ...) v (y).");
}

[[noreturn]] void refuse_without_hash(const Walk& walk, int table, const Node* at) {
  refuse(
      walk.level->statement->refused, at == nullptr ? kNowhere : exprLocation(at),
      psprintf("the = that joins \"%s\" cannot be hashed, such as an = of a date and a timestamp",
               rt_fetch(table, walk.level->query->rtable)->eref->aliasname),
      "Compare values of one type: visits.day::timestamp = d.");
}

[[noreturn]] void refuse_multiplying(const Walk& walk, const Part& rows, int table,
                                     const List* conditions, const Node* at) {
  if (!can_be_hashed(conditions, table, rows.entries)) refuse_without_hash(walk, table, at);
  if (is_list(entry_of(walk.level, table))) {
    refuse_multiplying_list(walk, table, at);
  }
  const bool has_ranges = compares_ranges(rows, table, conditions);
  const bool is_level = entry_of(walk.level, table).public_level != nullptr;
  refuse_join(walk.level, at,
              psprintf("the join may multiply protected rows: it compares no unique key of \"%s\"",
                       rt_fetch(table, walk.level->query->rtable)->eref->aliasname),
              has_ranges ? kRangeHint
              : is_level ? kLevelHint
                         : kJoinHint);
}

bool are_public(const JudgedLevel* level, const List* conditions) {
  return is_public(level, as<Node>(const_cast<List*>(conditions)));
}

// "public LEFT JOIN protected": all rows of the public side stay.
void add_public_side(const Walk& walk, const Part& rows, const Part& tables, const Node* at) {
  JudgedLevel* level = walk.level;
  if (level->has_public_side) {
    refuse_join(level, at, "more than one outer join keeps public rows without a protected row",
                kPublicSideHint);
  }
  set_absent(level, rows.entries);
  set_public(level, tables.entries, true);
  level->has_public_side = true;
  level->keeps_public_rows = true;
}

// Whether a term may name a column of an entry. That of a join (USING) may be of any.
bool may_name(const JudgedLevel* level, Node* term, int table) {
  for (const auto* column : each<const Var>(pull_vars_of_level(term, 0))) {
    const int number = static_cast<int>(column->varno);
    const bool is_merged = rt_fetch(number, level->query->rtable)->rtekind == RTE_JOIN;
    if (number == table || is_merged) return true;
  }
  return false;
}

// The terms by which a row of a table is chosen.
List* terms_on(const JudgedLevel* level, const List* conditions, int table) {
  List* terms = NIL;
  for (auto* term : each<Node>(conditions)) {
    if (may_name(level, term, table)) terms = lappend(terms, term);
  }
  return terms;
}

// What a public row is joined to is public if all terms are that choose it: those of ON, also if
// they do not name it, and those of WHERE that do. An inner join by another one drops public rows.
void add_beside_public_side(const Walk& walk, const Part& tables, const List* on, bool is_inner) {
  JudgedLevel* level = walk.level;
  set_public(level, tables.entries, true);
  bool is_chosen_publicly = are_public(level, on) && are_public(level, tables.conditions);
  int table = -1;
  while (is_inner && (table = bms_next_member(tables.entries, table)) >= 0) {
    is_chosen_publicly =
        is_chosen_publicly && are_public(level, terms_on(level, walk.where, table));
  }
  set_public(level, tables.entries, is_chosen_publicly);
  if (is_inner && !is_chosen_publicly) level->keeps_public_rows = false;
}

Part walk_from(const Walk& walk, Node* node);

struct Sides {
  Part rows;
  Part tables;
  bool keeps_rows;    // an outer join keeps protected rows without partner
  bool keeps_tables;  // an outer join keeps rows of the tables without partner
};

Sides sides_of(const Walk& walk, const JoinExpr* join, const Part& left, const Part& right) {
  const bool keeps_left = join->jointype == JOIN_LEFT;
  const bool keeps_right = join->jointype == JOIN_RIGHT;
  if (join->jointype != JOIN_INNER && !keeps_left && !keeps_right) {
    refuse_type_of_join(walk.level, as<Node>(join));
  }
  return left.has_rows ? Sides{left, right, keeps_left, keeps_right}
                       : Sides{right, left, keeps_right, keeps_left};
}

// Tables that are joined with each other before they are joined with protected rows. An inner join
// of them is one by all conditions together, in any order.
Part join_of_tables(const Walk& walk, const JoinExpr* join, const Part& left, const Part& right) {
  if (join->jointype != JOIN_INNER) {
    refuse_join(walk.level, as<Node>(join),
                "an outer join joins tables with each other before they are joined with protected "
                "rows",
                kOneByOneHint);
  }
  List* conditions = list_concat_copy(left.conditions, right.conditions);
  conditions = list_concat(conditions, list_copy(terms_of(join->quals)));
  return {bms_union(left.entries, right.entries), false, 0, nullptr, false, conditions};
}

struct UserJoin {
  Part left;
  Part right;
  JoinType type;
  const Node* at;  // null in a list
};

// Rows of a public side without a protected row have no user, so that they match nothing. They stay
// if the join keeps the rows of their part.
void check_kept_public_rows(JudgedLevel* level, const UserJoin& join) {
  if (!join.left.has_public_side && !join.right.has_public_side) return;
  const bool keeps = join.left.has_public_side ? join.type == JOIN_LEFT : join.type == JOIN_RIGHT;
  if (!keeps || (join.left.has_public_side && join.right.has_public_side)) {
    refuse(
        level->statement->refused, join.at == nullptr ? kNowhere : exprLocation(join.at),
        "a join of protected tables drops rows of the public table that an outer join keeps",
        "Write LEFT JOIN, or join the protected tables in a derived table: FROM city c LEFT JOIN "
        "(SELECT ... FROM patients p JOIN visits v ON v.patient = p.id) t ON t.city = c.id.");
  }
  set_absent(level, join.left.has_public_side ? join.right.entries : join.left.entries);
}

[[noreturn]] void refuse_without_users(const JudgedLevel* level, const Node* at) {
  refuse_join(level, at, "the query does not show which person each row belongs to",
              "Name in FROM the table to which the rows refer, and join it by the foreign key.");
}

// Whose the joined rows are. Those of an inner join have a row of each part.
int user_of_join(const JudgedLevel* level, const UserJoin& join) {
  int user = join.type == JOIN_RIGHT ? join.right.user : join.left.user;
  if (join.type == JOIN_INNER && user == 0) user = join.right.user;
  if (user == 0) refuse_without_users(level, join.at);
  return user;
}

// Protected rows joined with those of other tables of the same unit: each row is of one user.
Part join_of_users(JudgedLevel* level, const UserJoin& join, const List* conditions) {
  check_kept_public_rows(level, join);
  check_unit_join(level, {join.left.entries, join.right.entries, conditions, join.type, join.at});
  if (join.type != JOIN_INNER && join.type != JOIN_LEFT && join.type != JOIN_RIGHT) {
    refuse_type_of_join(level, join.at);
  }
  const Part& kept = join.type == JOIN_RIGHT ? join.right : join.left;
  return {bms_union(join.left.entries, join.right.entries),
          true,
          user_of_join(level, join),
          join.type == JOIN_INNER ? bms_union(join.left.users, join.right.users) : kept.users,
          join.left.has_public_side || join.right.has_public_side,
          NIL};
}

// Adds tables to rows, in any order in which each is joined to those before. `at` is the join, null
// in a list.
void add_tables(const Walk& walk, Part* rows, Bitmapset* tables, const List* conditions,
                const Node* at) {
  while (!bms_is_empty(tables)) {
    Bitmapset* left = nullptr;
    int table = -1;
    while ((table = bms_next_member(tables, table)) >= 0) {
      if (finds_row(walk, *rows, table, conditions)) {
        rows->entries = bms_add_member(bms_copy(rows->entries), table);
      } else {
        left = bms_add_member(left, table);
      }
    }
    if (bms_equal(left, tables)) {
      refuse_multiplying(walk, *rows, bms_next_member(left, -1), conditions, at);
    }
    tables = left;
  }
}

Part walk_join(const Walk& walk, const JoinExpr* join) {
  const bool is_inner = join->jointype == JOIN_INNER;
  // WHERE chooses rows after the join: also those of a side, unless NULLs take their place.
  const Walk kept = {walk.level, walk.where};
  const Walk other = {walk.level, NIL};
  const Part left = walk_from(is_inner || join->jointype == JOIN_LEFT ? kept : other, join->larg);
  const Part right = walk_from(is_inner || join->jointype == JOIN_RIGHT ? kept : other, join->rarg);
  const auto* at = as<Node>(join);
  const List* on = terms_of(join->quals);
  const List* conditions = is_inner ? list_concat_copy(on, walk.where) : on;
  if (left.has_rows && right.has_rows) {
    return join_of_users(walk.level, {left, right, join->jointype, at}, conditions);
  }
  if (!left.has_rows && !right.has_rows) return join_of_tables(walk, join, left, right);
  const Sides sides = sides_of(walk, join, left, right);
  Part joined = sides.rows;
  add_tables(walk, &joined, sides.tables.entries,
             list_concat_copy(conditions, sides.tables.conditions), at);
  if (sides.keeps_tables) {
    add_public_side(walk, sides.rows, sides.tables, at);
    joined.has_public_side = true;
  } else if (joined.has_public_side) {
    add_beside_public_side(walk, sides.tables, on, is_inner);
  }
  return joined;
}

Part walk_from(const Walk& walk, Node* node) {
  if (IsA(node, RangeTblRef)) {
    return part_of_entry(walk.level, as<RangeTblRef>(node)->rtindex);
  }
  if (IsA(node, JoinExpr)) return walk_join(walk, as<JoinExpr>(node));
  refuse_join(walk.level, node, "this kind of item in FROM is not supported beside protected rows");
}

void walk_list(const Walk& walk, const List* from) {
  Part rows{};
  Bitmapset* tables = nullptr;
  List* conditions = list_copy(walk.where);
  for (auto* node : each<Node>(from)) {
    const Part part = walk_from(walk, node);
    if (!part.has_rows) {
      tables = bms_add_members(tables, part.entries);
      conditions = list_concat(conditions, list_copy(part.conditions));
    } else if (rows.has_rows) {
      rows = join_of_users(walk.level, {rows, part, JOIN_INNER, nullptr}, walk.where);
    } else {
      rows = part;
    }
  }
  if (rows.has_rows && rows.user == 0) refuse_without_users(walk.level, nullptr);
  walk.level->user_entry = rows.user;
  walk.level->user_entries = rows.users;
  if (!bms_is_empty(tables)) walk.level->keeps_public_rows = false;
  add_tables(walk, &rows, tables, conditions, nullptr);
}

void begin_with_sources(JudgedLevel* level) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const JudgedLevel* source = entry_of(level, i).source;
    if (source == nullptr) continue;
    level->has_public_side = level->has_public_side || source->has_public_side;
    level->keeps_public_rows = level->keeps_public_rows || source->keeps_public_rows;
  }
}

// Whether all protected rows in FROM are those of sources with one row of each person, or of which
// WHERE chooses one: joins by persons have no more.
bool has_one_row(const JudgedLevel* level) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    if (!has_one_row(entry_of(level, i)) && !chooses_row_of_person(level->read, i)) return false;
  }
  return true;
}

}  // namespace

// The relations with the rows, and whose users they are.
void find_relations(JudgedLevel* level) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    level->relations = list_concat_unique_ptr(level->relations, relations_of_entry(level, i));
    level->tables = list_concat_unique_oid(level->tables, tables_of_entry(level, i));
    level->limiting_relations =
        list_concat_unique_ptr(level->limiting_relations, limiting_relations_of_entry(level, i));
    level->limiting_tables =
        list_concat_unique_oid(level->limiting_tables, limiting_tables_of_entry(level, i));
    const JudgedLevel* source = entry_of(level, i).source;
    level->has_person_groups |= source != nullptr && source->has_person_groups;
  }
  const JudgedEntry& entry = entry_of(level, level->user_entry);
  level->user_relation = entry.relation != nullptr ? entry.relation : entry.source->user_relation;
  level->has_one_row = has_one_row(level);
  if (list_length(level->relations) < 2) return;
  List** joined = &level->statement->joined;
  for (const auto* relation : each<const BorrowedRelation>(level->relations)) {
    if (OidIsValid(relation->table)) *joined = list_append_unique_oid(*joined, relation->table);
  }
  *joined = list_concat_unique_oid(*joined, level->tables);
}

void check_joins(JudgedLevel* level) {
  const FromExpr* from = level->query->jointree;
  const Walk walk = {level, terms_of(from->quals)};
  begin_with_sources(level);
  walk_list(walk, from->fromlist);
  find_relations(level);
  if (!are_public(level, walk.where)) level->keeps_public_rows = false;
}

}  // namespace dpquantile

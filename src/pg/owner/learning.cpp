// What the functions have in common by which an owner learns from the rows of a protected table.
#include "pg/owner/learning.hpp"

#include "core/privacy/privacy_parameter.hpp"
#include "pg/grants/reference.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/protect/protect_hooks.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

const char* quoted_name(Oid relation) {
  return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
                                    get_rel_name(relation));
}

// What is known before anything is noted. The owner may have lost the right to read.
void require_select(Oid relation) {
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied to read %s", get_rel_name(relation)),
                  errhint("The rows are read with the rights of the role that calls the function: "
                          "GRANT SELECT ON %s TO %s.",
                          quoted_name(relation),
                          quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

const char* quoted_column(Oid relation, AttrNumber column) {
  return quote_identifier(get_attname(relation, column, false));
}

[[noreturn]] void refuse_reference(Oid relation, const char* problem) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the rows of %s do not lead to persons: its %s", get_rel_name(relation), problem),
           errhint("The view dp_protected_tables shows what the table is protected by.")));
}

// Adds the table to whose rows those of table t<number - 1> refer.
void append_reference(StringInfo from, const ProtectedRelation& table, int number) {
  const char* problem = problem_of_reference(table);
  if (problem != nullptr) refuse_reference(table.relation, problem);
  const Reference* reference =
      find_reference(table.relation, table.reference_column, table.through, &problem);
  if (reference == nullptr) refuse_reference(table.relation, problem);
  require_select(table.through);
  appendStringInfo(from, " JOIN %s t%d ON ", quoted_name(table.through), number);
  for (int i = 0; i < reference->columns; ++i) {
    appendStringInfo(from, "%st%d.%s OPERATOR(pg_catalog.=) t%d.%s", i == 0 ? "" : " AND ", number,
                     quoted_column(reference->referenced, reference->key[i]), number - 1,
                     quoted_column(reference->relation, reference->own[i]));
  }
}

}  // namespace

double epsilon_argument(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("epsilon must not be NULL"),
                    errhint("It is what this costs whoever is in the table, for example 0.5.")));
  }
  return stated_amount(PG_GETARG_FLOAT8(argument));
}

namespace {

ProtectedRelation require_protected(Oid relation) {
  const ProtectedRelation* found = find_protected_relation(relation);
  if (found != nullptr) return *found;
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("%s is not protected", get_rel_name(relation)),
           errhint("Protect it first: SELECT dp_protect_table(%s). Of other tables "
                   "dp_learn_bounds finds bounds, and dp_keep_group keys.",
                   quote_literal_cstr(get_rel_name(relation)))));
}

void require_answerable(Oid relation) {
  PushActiveSnapshot(GetLatestSnapshot());
  InternalCall call("check_answerable");
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  (void)call.result();
  PopActiveSnapshot();
}

}  // namespace

ProtectedRelation require_protected(Oid relation, bool writes) {
  if (writes) PreventCommandIfReadOnly("a function that applies what it publishes");
  return require_protected(relation);
}

PersonRows rows_with_persons(const ProtectedRelation& protection) {
  require_select(protection.relation);
  StringInfoData from;
  initStringInfo(&from);
  appendStringInfo(&from, "FROM %s t0", quoted_name(protection.relation));
  if (protection.user_column == 0) return {from.data, nullptr};
  ProtectedRelation last = protection;
  int number = 0;
  while (last.user_column == kUsersOfReference) {
    append_reference(&from, last, ++number);
    last = require_protected(last.through);
  }
  return {from.data, psprintf("t%d.%s", number, quoted_column(last.relation, last.user_column))};
}

ColumnText text_of_column(const Column& column) {
  const Oid base = getBaseType(column.type);
  HeapTuple row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
  const auto* type = reinterpret_cast<Form_pg_type>(GETSTRUCT(row));
  const char* name =
      quote_qualified_identifier(get_namespace_name(type->typnamespace), NameStr(type->typname));
  ReleaseSysCache(row);
  const char* value = psprintf("t0.%s", quote_identifier(NameStr(column.name)));
  if (base != column.type) value = psprintf("CAST(%s AS %s)", value, name);
  return {value, name};
}

Datum result_row(FunctionCallInfo fcinfo, Datum* values, bool* nulls) {
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the result is no row")));
  }
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

Portal open_rows(Oid relation, const char* query) {
  if (SPI_connect() != SPI_OK_CONNECT) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("SPI cannot be connected")));
  }
  const Portal portal = open_rows_again(query);
  require_answerable(relation);
  return portal;
}

Portal open_rows_again(const char* query) {
  Portal volatile portal = nullptr;
  begin_total_planning();
  PG_TRY();
  portal = SPI_cursor_open_with_args(nullptr, query, 0, nullptr, nullptr, nullptr, true, 0);
  PG_FINALLY();
  end_total_planning();
  PG_END_TRY();
  return portal;
}

}  // namespace dpquantile

#include "pg/borrowed/early_lookups.hpp"

#include "pg/grants/borrowed_relations.hpp"
#include "pg/server/collation.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/allowed_nodes.hpp"
#include "pg/vocabulary/type_table.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"
}

namespace dpquantile {

namespace {

// Keys and users are compared by the collation of their expression.
bool may_be_compared(const Node* node) {
  return is_allowed_inside(node) && !IsA(node, List) && !IsA(node, CaseWhen);
}

List* collations_of(const Query* query) {
  List* found = NIL;
  visit_nodes(
      query,
      [&](Node* node) {
        if (IsA(node, Query)) return;
        found = list_append_unique_oid(found, exprInputCollation(node));
        if (may_be_compared(node)) found = list_append_unique_oid(found, exprCollation(node));
      },
      kIntoQueries | QTW_IGNORE_JOINALIASES);
  return found;
}

Oid collation_of_users(const BorrowedRelation* relation) {
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(relation->permissions->relid, relation->user_column, &type, &modifier,
                        &collation);
  return collation;
}

// The first comparison may open more than the collation, such as a converter of ICU.
void compare_by(Oid collation) {
  open_collation(collation);
  (void)varstr_cmp("a", 1, "b", 1, collation);
  if (GetDatabaseEncoding() == PG_UTF8) (void)varstr_cmp("\xc3\x89", 2, "\xc3\xa9", 2, collation);
}

// The text of an ordinary value of a type, or null if none is known. Texts have characters for
// which a library takes other ways than for ASCII, if the encoding is known to have some.
const char* ordinary_text(Oid type) {
  const TypeRule* rule = find_type(type);
  if (rule == nullptr) return nullptr;
  if (rule->ordinary != nullptr) return rule->ordinary;
  return GetDatabaseEncoding() == PG_UTF8 ? "\xc3\x89"
                                            "a 1"
                                          : "Aa 1";
}

// The first label of an enum, or null.
const char* label_of(Oid type) {
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  const char* label = nullptr;
  if (labels->n_members > 0) {
    label = pstrdup(
        NameStr(reinterpret_cast<Form_pg_enum>(GETSTRUCT(&labels->members[0]->tuple))->enumlabel));
  }
  ReleaseSysCacheList(labels);
  return label;
}

// The same for a type that may be an enum, an array or a range.
const char* ordinary_value(Oid type) {
  const Oid element = get_element_type(type);
  switch (get_typtype(type)) {
    case TYPTYPE_ENUM:
      return label_of(type);
    case TYPTYPE_RANGE:
      return "(,)";
    case TYPTYPE_MULTIRANGE:
      return "{(,)}";
    default:
      break;
  }
  if (!OidIsValid(element)) return ordinary_text(type);
  // The input of an array would check a domain, and read quotes in a label.
  const char kind = get_typtype(element);
  const char* value = ordinary_value(element);
  if (value == nullptr || kind == TYPTYPE_DOMAIN || kind == TYPTYPE_RANGE || kind == TYPTYPE_ENUM) {
    return "{}";
  }
  return psprintf("{\"%s\"}", value);
}

bool is_any_text(Oid type) {
  return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

// A sample of a call in the making
struct Sample {
  Oid result;    // the type that the call answers
  bool is_read;  // whether texts are to be such as the result is read from, and ASCII
  int texts;     // how many it has so far
  bool keeps_constants;
  bool is_whole;
};

// Texts differ, because equal ones are not compared by a collation.
const char* value_of_argument(Sample* sample, Oid type) {
  if (!is_any_text(type)) return ordinary_value(type);
  const char* text = ordinary_value(type);
  if (sample->is_read) {
    const char* result = ordinary_text(getBaseType(sample->result));
    text = result == nullptr || is_any_text(sample->result) ? "Az aZ" : result;
  }
  if (sample->texts++ == 0) return text;
  char* other = pstrdup(text);
  other[strlen(other) - 1] = 'b';
  return other;
}

Node* with_ordinary_arguments(Node* call, Sample* sample);

Node* ordinary_argument(Node* argument, Sample* sample) {
  if (IsA(argument, List)) return with_ordinary_arguments(argument, sample);
  const bool is_constant = IsA(argument, Const) || IsA(argument, Param);
  if (is_constant && sample->keeps_constants) return argument;
  const Oid type = getBaseType(exprType(argument));
  const char* text = value_of_argument(sample, type);
  if (text == nullptr) {
    sample->is_whole = sample->is_whole && is_constant;
    return argument;
  }
  Oid input;
  Oid parameter;
  getTypeInputInfo(type, &input, &parameter);
  const Datum value = OidInputFunctionCall(input, const_cast<char*>(text), parameter, -1);
  return as<Node>(makeConst(exprType(argument), -1, exprCollation(argument), get_typlen(type),
                            value, false, get_typbyval(type)));
}

Node* with_ordinary_arguments(Node* call, Sample* sample) {
  return with_children(call, [=](Node* argument) { return ordinary_argument(argument, sample); });
}

// The constants of a variant may name what it looks up, or decide what it calls. PostgreSQL's own
// comparisons and choices do the same with each, so that one sample is enough for all.
bool keeps_constants(const Node* call) {
  switch (nodeTag(call)) {
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
    case T_MinMaxExpr:
    case T_ArrayExpr:
      return false;
    case T_FuncExpr:
      return as<FuncExpr>(call)->funcid >= FirstNormalObjectId;
    default:
      return true;
  }
}

List* add_sample(List* samples, const Node* call, bool is_read) {
  Sample sample = {exprType(call), is_read, 0, keeps_constants(call), true};
  Node* made = with_ordinary_arguments(const_cast<Node*>(call), &sample);
  if (!sample.is_whole) return samples;
  samples = list_append_unique(samples, made);
  return is_read || sample.texts == 0 ? samples : add_sample(samples, call, true);
}

bool calls_functions(const Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
    case T_ScalarArrayOpExpr:
    case T_MinMaxExpr:
    case T_CoerceViaIO:
    case T_SubscriptingRef:
    case T_ArrayExpr:
      return true;
    default:
      return false;
  }
}

// Enums are written and ordered by entries of the catalog, which stay in the session's caches. All
// labels are looked up, and compared, so that none is looked up for a row.
void look_up_labels(Oid type) {
  TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  Oid first = InvalidOid;
  for (int i = 0; i < labels->n_members; ++i) {
    const Oid label = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&labels->members[i]->tuple))->oid;
    if (i == 0) first = label;
    HeapTuple row = SearchSysCache1(ENUMOID, ObjectIdGetDatum(label));
    if (HeapTupleIsValid(row)) ReleaseSysCache(row);
    (void)compare_values_of_enum(entry, label, first);
  }
  ReleaseSysCacheList(labels);
}

// OIDs
List* enums_in(const List* expressions) {
  List* enums = NIL;
  visit_nodes(expressions, [&](const Node* node) {
    if (IsA(node, List)) return;
    Oid type = getBaseType(exprType(node));
    const Oid element = get_element_type(type);
    if (OidIsValid(element)) type = getBaseType(element);
    if (get_typtype(type) == TYPTYPE_ENUM) enums = list_append_unique_oid(enums, type);
  });
  return enums;
}

void lock_long_values_of(Relation table) {
  const Oid stored = table->rd_rel->reltoastrelid;
  if (!OidIsValid(stored)) return;
  Relation relation = table_open(stored, AccessShareLock);
  for (const Oid oid : each_oid(RelationGetIndexList(relation))) {
    index_close(index_open(oid, AccessShareLock), NoLock);
  }
  table_close(relation, NoLock);
}

}  // namespace

void open_collations(Query* query, const List* borrowed) {
  List* collations = collations_of(query);
  for (const auto* relation : each<const BorrowedRelation>(borrowed)) {
    if (relation->user_column < 1) continue;
    collations = list_append_unique_oid(collations, collation_of_users(relation));
  }
  for (const Oid collation : each_oid(collations)) {
    if (OidIsValid(collation)) compare_by(collation);
  }
}

List* with_samples(List* samples, const Node* call) {
  return calls_functions(call) ? add_sample(samples, call, false) : samples;
}

List* with_sample_of_key(List* samples, Node* key) {
  // Keys of some types are hashed only.
  if (!OidIsValid(lookup_type_cache(exprType(key), TYPECACHE_CMP_PROC)->cmp_proc)) return samples;
  MinMaxExpr* comparison = makeNode(MinMaxExpr);
  comparison->minmaxtype = exprType(key);
  comparison->minmaxcollid = exprCollation(key);
  comparison->inputcollid = exprCollation(key);
  comparison->op = IS_GREATEST;
  comparison->args = list_make2(key, key);
  return with_samples(samples, as<Node>(comparison));
}

List* plan_samples(List* samples) {
  for (auto* node : each<Node>(samples)) {
    fix_opfuncids(node);
    convert_saop_to_hashed_saop(node);
  }
  return samples;
}

void make_sample_calls(const List* samples, const EState* state) {
  if (samples == NIL) return;
  for (const Oid type : each_oid(enums_in(samples))) look_up_labels(type);
  ExprContext* context = CreateStandaloneExprContext();
  context->ecxt_param_list_info = state->es_param_list_info;
  for (auto* expression : each<Expr>(samples)) {
    bool is_null;
    ExprState* call = ExecInitExprWithParams(expression, state->es_param_list_info);
    (void)ExecEvalExprSwitchContext(call, context, &is_null);
    ResetExprContext(context);
  }
  FreeExprContext(context, true);
}

void lock_long_values(const EState* state) {
  for (Index i = 0; i < state->es_range_table_size; ++i) {
    if (state->es_relations[i] != nullptr) lock_long_values_of(state->es_relations[i]);
  }
}

}  // namespace dpquantile

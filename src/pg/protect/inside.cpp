#include "pg/protect/inside.hpp"

#include "pg/borrowed/early_lookups.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/protect/array_search.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/concatenation.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/lasting_type.hpp"
#include "pg/protect/outer_column.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/safe_answers.hpp"
#include "pg/protect/size_bounds.hpp"
#include "pg/protect/size_limit.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/allowed_nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/regex_weight.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// Few functions are known to (total_functions.hpp). Most others do not fail, either.
constexpr char kNotKnown[] =
    "is not supported over protected rows: it may fail, or take long, for some rows";
constexpr char kFunctionHint[] =
    "Use comparisons, arithmetic, LIKE, date_trunc and the other functions in docs/functions.md.";
constexpr char kArrayHint[] =
    "Search in arrays by 5 = ANY (tags), and use their elements: tags[3] IS NOT NULL says that "
    "there are three or more.";
constexpr char kRangeHint[] =
    "Compare with both ends: hired >= a AND hired < b. Of a column of ranges ask the owner of the "
    "table for columns with both ends.";
constexpr char kDocumentHint[] =
    "Take parts of a jsonb: props ->> 'city', (props ->> 'age')::numeric, props @> '{\"a\": 1}'. "
    "Ask "
    "the owner of the table for a column of type jsonb where it is json or xml.";

// ---- Refusals ------------------------------------------------------------------------------

[[noreturn]] void refuse_at(const JudgedLevel* level, const Node* node, const char* reason,
                            const char* hint) {
  refuse(level->statement->refused, exprLocation(node), reason, hint);
}

const char* name_of_call(const Node* node, Oid function) {
  if (!IsA(node, OpExpr)) return psprintf("function %s", format_procedure(function));
  const Oid operation = as<OpExpr>(node)->opno;
  return psprintf("operator %s", format_operator(operation));
}

const char* hint_of_type(Oid type) {
  const Oid base = getBaseType(type);
  if (OidIsValid(get_element_type(base))) return kArrayHint;
  if (type_is_range(base) || type_is_multirange(base)) return kRangeHint;
  return base == JSONOID || base == JSONBOID || base == XMLOID ? kDocumentHint : nullptr;
}

// What to write in the place of a function.
const char* hint_of_function(const Node* node, const char* name) {
  if (is_one_of(name, "concat concat_ws format")) return "Write name || ' ' || age::text.";
  if (is_one_of(name, "textanycat anytextcat")) return "Cast to text: || age::text.";
  if (is_one_of(name, "to_date to_timestamp to_number")) {
    return "Cast the text: written::date, written::numeric. A month begins at date_trunc('month', "
           "at), an ISO year at date_trunc('week', make_date(extract(isoyear FROM at)::int, 1, "
           "4)).";
  }
  if (IsA(node, ScalarArrayOpExpr) && strstr(name, "like") != nullptr) {
    return "Write a literal array of at most 100 elements, or a comparison with each.";
  }
  if (is_one_of(name, "substring")) {
    return "Use substring(a, 1, 5), split_part(a, '-', 2) or left(a, position('-' IN a)); for a "
           "pattern CASE WHEN a ~ '^x' THEN ... END.";
  }
  if (strstr(name, "regex") != nullptr) {
    return "Use ~, LIKE, ILIKE, split_part or position: CASE WHEN a ~ '^x' THEN ... END.";
  }
  for (const auto* argument : each<const Node>(arguments_of(node))) {
    const char* hint = hint_of_type(exprType(argument));
    if (hint != nullptr) return hint;
  }
  return kFunctionHint;
}

[[noreturn]] void refuse_function(const JudgedLevel* level, const Node* node, Oid function) {
  const char* why = func_volatile(function) == PROVOLATILE_VOLATILE
                        ? "is not supported over protected rows: it is volatile"
                        : kNotKnown;
  const char* name = get_func_name(function);
  refuse_at(level, node, psprintf("%s %s", name_of_call(node, function), why),
            hint_of_function(node, name == nullptr ? "" : name));
}

void check_type(const JudgedLevel* level, const Node* node) {
  const Oid type = exprType(node);
  if (is_inside_type(type) && is_lasting_type(level, type)) return;
  refuse_at(level, node,
            psprintf("expressions of type %s are not supported over protected rows",
                     format_type_be(type)),
            "Use columns and expressions of PostgreSQL's own types.");
}

// ---- Collations ----------------------------------------------------------------------------

bool has_collatable_argument(const List* arguments) {
  for (auto* node : each<Node>(arguments)) {
    if (type_is_collatable(exprType(node))) return true;
  }
  return false;
}

// Without a collation a comparison fails when the first row is compared.
void check_collation(const JudgedLevel* level, const Node* node) {
  if (OidIsValid(exprInputCollation(node)) || !has_collatable_argument(arguments_of(node))) return;
  refuse_at(level, node, "could not determine which collation to use for a comparison",
            "Add COLLATE \"C\" to one of its arguments.");
}

// ---- Columns -------------------------------------------------------------------------------

// A virtual generated column is an expression of the table's owner.
void check_stored(const JudgedLevel* level, const Var* column, const RangeTblEntry* entry) {
  HeapTuple row =
      SearchSysCache2(ATTNUM, ObjectIdGetDatum(entry->relid), Int16GetDatum(column->varattno));
  const bool is_stored =
      HeapTupleIsValid(row) &&
      !DPQ_IS_VIRTUAL(reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row))->attgenerated);
  if (HeapTupleIsValid(row)) ReleaseSysCache(row);
  if (is_stored) return;
  refuse_at(level, as<Node>(column),
            "virtual generated columns are not supported over protected rows",
            "Use columns that are stored.");
}

const JudgedLevel* level_above(const JudgedLevel* level, Index levels) {
  while (levels-- > 0 && level != nullptr) level = level->parent;
  return level;
}

// ---- Functions -----------------------------------------------------------------------------

void check_public_arguments(const JudgedLevel* level, const Node* node, unsigned public_arguments) {
  const List* arguments = arguments_of(node);
  for (int i = 0; i < list_length(arguments); ++i) {
    auto* argument = static_cast<Node*>(list_nth(arguments, i));
    if ((public_arguments >> i & 1) == 0 || !reads_columns(argument)) continue;
    refuse_at(level, argument,
              psprintf("argument %d of this function must not depend on protected rows", i + 1),
              "Write it as a literal or a query parameter.");
  }
}

// The time depends on the pattern. One of a parameter is looked at when it has its value, in each
// plan alike. Compiles it: an error here is that of PostgreSQL.
void check_regex(JudgedLevel* level, const Node* node) {
  JudgedStatement* statement = level->statement;
  if (has_earlier_answer(argument_of(node, 1))) {
    refuse_at(level, node, "a regular expression comes from a private answer of the query",
              "Ask this answer first, and write it as a literal or a query parameter.");
  }
  Node* pattern = early_expression(level, argument_of(node, 1));
  const Oid collation = exprInputCollation(node);
  if (IsA(pattern, Param)) {
    statement->patterns =
        lappend_int(statement->patterns, number_of_early(statement, as<Param>(pattern)));
    statement->pattern_collations = lappend_oid(statement->pattern_collations, collation);
    return;
  }
  if (as<Const>(pattern)->constisnull) return;
  if (!is_literal(statement, pattern)) {
    check_pattern_value(as<Const>(pattern)->constvalue, collation);
    return;
  }
  if (weight_of_pattern(as<Const>(pattern)) == 0) {
    refuse_at(level, node,
              "the regular expression is not supported over protected rows: it may take long for "
              "some rows",
              kRegexHint);
  }
  const Datum empty = CStringGetTextDatum("");
  (void)DirectFunctionCall2Coll(textregexeq, exprInputCollation(node), empty,
                                as<Const>(pattern)->constvalue);
}

// What may be called for a row in the place of a call of the function: the same call, or one of a
// variant.
Node* total_call(JudgedLevel* level, Node* node, Oid function) {
  if (is_total(function)) return node;
  const FunctionRule* variant = find_variant(function);
  if (variant == nullptr) refuse_function(level, node, function);
  check_public_arguments(level, node, variant->public_arguments);
  if (variant->time == CallTime::kRegex) check_regex(level, node);
  FuncExpr* call = call_of_variant(*variant, node, arguments_of(node));
  if (call == nullptr) refuse_function(level, node, function);
  return as<Node>(call);
}

// The node with total functions. The arguments have not been rewritten yet.
Node* with_total_functions(JudgedLevel* level, Node* node) {
  if (IsA(node, FuncExpr)) {
    return total_call(level, node, as<FuncExpr>(node)->funcid);
  }
  if (IsA(node, OpExpr)) {
    set_opfuncid(as<OpExpr>(node));
    return total_call(level, node, as<OpExpr>(node)->opfuncid);
  }
  const Oid partial = find_other_function(node, is_total);
  if (OidIsValid(partial)) refuse_function(level, node, partial);
  return node;
}

[[noreturn]] void refuse_cast(const JudgedLevel* level, const Node* node, Oid from, Oid to) {
  const char* hint = hint_of_type(from);
  refuse_at(level, node,
            psprintf("cast from %s to %s %s", format_type_be(from), format_type_be(to), kNotKnown),
            hint != nullptr
                ? hint
                : "Cast numbers, dates and times to text, or texts to numbers, dates and times.");
}

// The cast to text, as another type of texts.
Node* as_other_text(const CoerceViaIO* cast) {
  CoerceViaIO* text = makeNode(CoerceViaIO);
  *text = *cast;
  text->resulttype = TEXTOID;
  return as<Node>(makeRelabelType(as<Expr>(text), cast->resulttype, -1, cast->resultcollid,
                                  cast->coerceformat));
}

// A cast from text by the input function of a type fails for most texts, and the text of a jsonb
// may be long.
Node* total_cast(const JudgedLevel* level, Node* node) {
  auto* cast = as<CoerceViaIO>(node);
  const Oid from = exprType(as<Node>(cast->arg));
  if (is_total_text_conversion(getBaseType(from), cast->resulttype)) return node;
  const bool is_other_text = cast->resulttype == VARCHAROID || cast->resulttype == BPCHAROID;
  if (is_other_text && find_text_cast(getBaseType(from), TEXTOID) != nullptr) {
    return as_other_text(cast);
  }
  FuncExpr* call = cast_by_variant(cast, cast->resulttype);
  if (call == nullptr) refuse_cast(level, node, from, cast->resulttype);
  return as<Node>(call);
}

// ---- Other nodes ---------------------------------------------------------------------------

void check_subscript(const JudgedLevel* level, const Node* node) {
  const auto* subscript = as<SubscriptingRef>(node);
  const bool is_element = OidIsValid(get_element_type(subscript->refcontainertype)) &&
                          subscript->reflowerindexpr == NIL && subscript->refassgnexpr == nullptr;
  if (is_element) return;
  refuse_at(level, node, "only subscripts of one array element are supported over protected rows",
            subscript->refcontainertype == JSONBOID ? kDocumentHint : "Use one element: a[1].");
}

void check_array(const JudgedLevel* level, const Node* node) {
  if (as<ArrayExpr>(node)->multidims) {
    refuse_at(
        level, node,
        "arrays of arrays are not supported over protected rows: they fail where dimensions differ",
        "Use an array of single values.");
  }
  if (get_typlen(as<ArrayExpr>(node)->element_typeid) < 0) {
    refuse_at(level, node,
              "arrays of texts or other values of variable length are not supported over protected "
              "rows: they may be too large for some rows",
              "Use one of its elements, or an array of numbers, dates or times.");
  }
  if (list_length(as<ArrayExpr>(node)->elements) <= kMaxElements) return;
  refuse_with_code(level->statement->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, exprLocation(node),
                   psprintf("an array has more than %d elements", kMaxElements),
                   "Select by a shorter list.");
}

bool is_structural(const Node* node) {
  return IsA(node, List) || IsA(node, CaseWhen);
}

// Checks a node with columns, and replaces its own functions.
Node* rewrite_node(JudgedLevel* level, Node* node) {
  if (IsA(node, Var)) check_column(level, as<Var>(node));
  check_type(level, node);
  check_collation(level, node);
  switch (nodeTag(node)) {
    case T_SubscriptingRef:
      check_subscript(level, node);
      return node;
    case T_ArrayExpr:
      check_array(level, node);
      return node;
    case T_CoerceViaIO:
      return total_cast(level, node);
    default:
      return with_total_functions(level, node);
  }
}

// Has a node's functions called before the first row is read.
void add_samples(JudgedStatement* statement, const Node* node) {
  statement->samples = with_samples(statement->samples, node);
}

Node* short_early_expression(JudgedLevel* level, Node* expression) {
  if (has_earlier_answer(expression)) {
    check_outside(level, expression, nullptr);
    expression = safe_expression(level, expression);
  }
  Node* early = early_expression(level, expression);
  require_short_value(level->statement, early);
  return early;
}

// An argument of a call of a variant, rewritten. PostgreSQL casts to varchar by functions of texts,
// whose variants give texts.
Node* rewritten_argument(JudgedLevel* level, Node* argument) {
  Node* rewritten = rewrite_inside(level, argument);
  const Oid type = exprType(argument);
  if (type != VARCHAROID || exprType(rewritten) == type) return rewritten;
  return as<Node>(makeRelabelType(as<Expr>(rewritten), type, -1, exprCollation(rewritten),
                                  COERCE_IMPLICIT_CAST));
}

// The node with its arguments rewritten, but those that a call of a variant has before them.
Node* with_rewritten_arguments(JudgedLevel* level, Node* node) {
  const int first = first_argument(node);
  if (first == 0) {
    return with_children(node, [&](Node* child) { return rewrite_inside(level, child); });
  }
  FuncExpr* call = makeNode(FuncExpr);
  *call = *as<FuncExpr>(node);
  call->args = list_copy(call->args);
  for (int i = first; i < list_length(call->args); ++i) {
    ListCell* cell = list_nth_cell(call->args, i);
    lfirst(cell) = rewritten_argument(level, static_cast<Node*>(lfirst(cell)));
  }
  return as<Node>(call);
}

Node* rewrite_with_arguments(JudgedLevel* level, Node* node) {
  if (!is_structural(node)) {
    if (!reads_columns(node)) return short_early_expression(level, node);
    if (Node* same = without_concatenation(node)) return rewrite_inside(level, same);
    if (Node* same = without_array_search(node)) return rewrite_inside(level, same);
    count_node(level->statement, node, weight_of(level, node));
    if (!is_allowed_inside(node)) refuse_node(level, node);
    node = rewrite_node(level, node);
  }
  Node* rewritten = with_rewritten_arguments(level, node);
  if (count_reasons(level->statement->refused) > 0) return rewritten;
  add_samples(level->statement, rewritten);
  return with_bounded_work(level, rewritten);
}

}  // namespace

// Arguments of what is refused are not looked at, and nothing more of a query that has been refused
// as too long.
Node* rewrite_inside(JudgedLevel* level, Node* expression) {
  const bool is_too_long = level->statement->node_count > kMostExpressionNodes;
  if (expression == nullptr || is_too_long) return expression;
  CHECK_FOR_INTERRUPTS();
  Node* rewritten = expression;
  attempt(level, [&] { rewritten = rewrite_with_arguments(level, expression); });
  return rewritten;
}

void check_column(const JudgedLevel* level, const Var* column) {
  const auto* node = as<Node>(column);
  if (column->varattno < 1) {
    refuse_at(level, node,
              "system columns and whole rows are not supported over protected rows: they identify "
              "single rows",
              "Name ordinary columns.");
  }
  const JudgedLevel* of = level_above(level, column->varlevelsup);
  if (of == nullptr || column->varno > list_length(of->query->rtable)) {
    refuse_at(level, node, "the query names a column of a table that is not in FROM",
              "Name a column of a table in FROM.");
  }
  const auto* entry = rt_fetch(column->varno, of->query->rtable);
  if (entry->rtekind == RTE_RELATION) check_stored(level, column, entry);
  if (column->varlevelsup > 0) return compute_before_rows(level, of, column);
  Node* merged = merged_column(level->query, column);
  if (merged == nullptr) return;
  if (IsA(merged, Var)) return check_column(level, as<Var>(merged));
  refuse_at(level, node, "a column of JOIN ... USING has different types in the two tables",
            "Qualify the column with the name of its table.");
}

// No cast of them is total.
bool is_bits(Oid type) {
  const Oid base = getBaseType(type);
  return base == BITOID || base == VARBITOID;
}

void check_key_looks(const JudgedLevel* level, const Node* expression) {
  if (looks_like_its_equals(expression)) return;
  refuse_at(
      level, expression,
      psprintf("keys of type %s are not supported: equal keys may look different, and a single row "
               "would decide which is shown",
               format_type_with_typemod(exprType(expression), exprTypmod(expression))),
      is_bits(exprType(expression))
          ? "Compare the bits with values of yours: CASE WHEN flags = B'01' THEN 'a' ELSE 'b' END."
          : "Cast the key to a type in which they are the same, such as integer, numeric(10,2) or "
            "text.");
}

void check_key_inside(const JudgedLevel* level, const SortGroupClause* key,
                      const Node* expression) {
  check_type(level, expression);
  if (type_is_collatable(exprType(expression)) && !OidIsValid(exprCollation(expression))) {
    refuse_at(level, expression, "could not determine which collation to use for a key in GROUP BY",
              "Add COLLATE \"C\" to the key.");
  }
  const char* hint = hint_of_type(exprType(expression));
  const bool is_total_key = is_total(get_opcode(key->eqop)) &&
                            (!OidIsValid(key->sortop) || is_total(get_opcode(key->sortop)));
  if (is_total_key) return;
  refuse_at(level, expression,
            psprintf("keys of type %s are not supported in GROUP BY",
                     format_type_be(exprType(expression))),
            hint == nullptr ? "Group by a text, a number, a date or a time." : hint);
}

}  // namespace dpquantile

#include "pg/grants/protection_catalog.hpp"

#include <algorithm>
#include <limits>

#include "pg/grants/reference.hpp"
#include "pg/grants/relation_permissions.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/own_objects.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

constexpr char kSchema[] = "dpquantile";
constexpr char kProtectedTable[] = "protected_table";
constexpr char kGrantTable[] = "private_grant";
constexpr char kDomainTable[] = "column_domain";
constexpr char kFailedTable[] = "failed_read";

// No table has a column with this number.
constexpr AttrNumber kNoSuchColumn = -100;

struct Grant {
  Oid relation;
  Oid role;
  NameData role_name;
  PrivateAccess access;
};

struct Failure {
  Oid relation;
  Oid role;
  bool closes;
};

// The contents of a table, sorted by relation.
template <class Row>
struct Rows {
  Row* rows;
  int count;
  int capacity;
};

struct Contents {
  MemoryContext memory;
  Oid protected_table;  // invalid: the tables do not exist
  Oid grant_table;
  Oid domain_table;
  Oid failed_table;
  Rows<ProtectedRelation> relations;
  Rows<Grant> grants;
  Rows<ColumnDomain> domains;
  Rows<Failure> failures;
  uint64 generation;  // of the invalidations that the contents include
};

Contents contents{};
uint64 invalidations = 1;

// Without the tables any new relation may be one of them.
void follow(Datum, Oid relation) {
  if (relation == InvalidOid || !OidIsValid(contents.protected_table) ||
      relation == contents.protected_table || relation == contents.grant_table ||
      relation == contents.domain_table || relation == contents.failed_table) {
    ++invalidations;
  }
}

template <class Row>
void add(Rows<Row>* rows, const Row& row) {
  if (rows->count == rows->capacity) {
    rows->capacity = 2 * rows->capacity + 8;
    const Size bytes = static_cast<Size>(rows->capacity) * sizeof(Row);
    rows->rows =
        static_cast<Row*>(rows->rows == nullptr ? palloc(bytes) : repalloc(rows->rows, bytes));
  }
  rows->rows[rows->count++] = row;
}

template <class Row>
void sort(Rows<Row>* rows) {
  std::sort(rows->rows, rows->rows + rows->count,
            [](const Row& left, const Row& right) { return left.relation < right.relation; });
}

// The first row of the relation, or where it would be.
template <class Row>
const Row* find(const Rows<Row>& rows, Oid relation) {
  return std::lower_bound(rows.rows, rows.rows + rows.count, relation,
                          [](const Row& row, Oid searched) { return row.relation < searched; });
}

// A table of the extension in the schema that nobody else can create objects in. Invalid if there
// is none.
Oid find_table(const char* name) {
  const Oid schema = get_namespace_oid(kSchema, true);
  const Oid table = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
  if (!OidIsValid(table)) return InvalidOid;
  return is_own_object(RelationRelationId, table) ? table : InvalidOid;
}

// A column of a row.
class Reader {
 public:
  Reader(Relation table, HeapTuple row) : table_(table), row_(row) {}

  // Null for NULL.
  std::optional<Datum> column(const char* name) const {
    const AttrNumber number = get_attnum(RelationGetRelid(table_), name);
    if (number == InvalidAttrNumber) {
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                      errmsg("the table %s.%s has no column %s", kSchema,
                             RelationGetRelationName(table_), name)));
    }
    bool is_null = false;
    const Datum value = heap_getattr(row_, number, RelationGetDescr(table_), &is_null);
    return is_null ? std::nullopt : std::optional(value);
  }

 private:
  Relation table_;
  HeapTuple row_;
};

void read_relation(Contents* into, const Reader& row) {
  ProtectedRelation protection{};
  protection.relation = DatumGetObjectId(row.column("relation").value_or(0));
  if (const auto name = row.column("user_column")) {
    protection.user_column_name = *DatumGetName(*name);
    const AttrNumber number = DatumGetInt16(row.column("user_number").value_or(0));
    protection.user_column = number > 0 ? number : kNoSuchColumn;
    if (const auto through = row.column("through")) {
      protection.reference_column = protection.user_column;
      protection.user_column = kUsersOfReference;
      protection.through = DatumGetObjectId(*through);
    }
    if (const auto most = row.column("max_rows")) protection.max_rows = DatumGetInt32(*most);
    const auto groups = row.column("max_groups");
    protection.max_groups = groups ? DatumGetInt32(*groups) : protection.max_rows;
    if (const auto unit = row.column("unit")) protection.unit = *DatumGetName(*unit);
  }
  add(&into->relations, protection);
}

// Months have 30 days.
int64 microseconds_of(Datum interval) {
  const Interval* length = DatumGetIntervalP(interval);
  return length->time + USECS_PER_DAY * (length->day + int64{DAYS_PER_MONTH} * length->month);
}

void read_grant(Contents* into, const Reader& row) {
  Grant grant{};
  grant.relation = DatumGetObjectId(row.column("relation").value_or(0));
  grant.role = DatumGetObjectId(row.column("grantee_oid").value_or(0));
  const auto name = row.column("grantee");
  const auto smallest = row.column("smallest_epsilon");
  if (!name || !smallest) return;
  grant.role_name = *DatumGetName(*name);
  grant.access.smallest_epsilon = DatumGetFloat8(*smallest);
  const auto most = row.column("max_epsilon");
  grant.access.max_epsilon = most ? DatumGetFloat8(*most) : std::numeric_limits<double>::infinity();
  if (const auto epsilon = row.column("epsilon")) grant.access.epsilon = DatumGetFloat8(*epsilon);
  if (const auto delta = row.column("delta")) grant.access.delta = DatumGetFloat8(*delta);
  if (const auto reuse = row.column("reuse")) grant.access.reuse = microseconds_of(*reuse);
  grant.access.most_cancels = DatumGetInt32(row.column("most_cancels").value_or(0));
  add(&into->grants, grant);
}

const char* text_of(const std::optional<Datum>& value) {
  return value ? TextDatumGetCString(*value) : nullptr;
}

void read_domain(Contents* into, const Reader& row) {
  ColumnDomain domain{};
  domain.relation = DatumGetObjectId(row.column("relation").value_or(0));
  domain.column = DatumGetInt16(row.column("column_number").value_or(0));
  domain.type = DatumGetObjectId(row.column("column_type").value_or(0));
  const auto name = row.column("column_name");
  if (!name) return;
  domain.name = *DatumGetName(*name);
  domain.lower = text_of(row.column("lower"));
  domain.upper = text_of(row.column("upper"));
  domain.granularity = text_of(row.column("granularity"));
  if (const auto keys = row.column("keys")) domain.keys = DatumGetArrayTypePCopy(*keys);
  domain.other = DatumGetInt32(row.column("other").value_or(0));
  add(&into->domains, domain);
}

void read_failure(Contents* into, const Reader& row) {
  add(&into->failures, {DatumGetObjectId(row.column("relation").value_or(0)),
                        DatumGetObjectId(row.column("grantee_oid").value_or(0)),
                        DatumGetBool(row.column("closes").value_or(true))});
}

// A catalog snapshot: also a REPEATABLE READ transaction sees what has been revoked.
void read_table(Contents* into, Oid table_oid, void (*read)(Contents*, const Reader&)) {
  Relation table = table_open(table_oid, AccessShareLock);
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  while (HeapTuple row = systable_getnext(scan)) read(into, Reader(table, row));
  systable_endscan(scan);
  table_close(table, AccessShareLock);
}

void read_contents(Contents* into) {
  into->protected_table = find_table(kProtectedTable);
  into->grant_table = find_table(kGrantTable);
  into->domain_table = find_table(kDomainTable);
  into->failed_table = find_table(kFailedTable);
  if (!OidIsValid(into->protected_table) || !OidIsValid(into->grant_table) ||
      !OidIsValid(into->domain_table) || !OidIsValid(into->failed_table)) {
    into->protected_table = InvalidOid;
    return;
  }
  read_table(into, into->protected_table, read_relation);
  read_table(into, into->grant_table, read_grant);
  read_table(into, into->domain_table, read_domain);
  read_table(into, into->failed_table, read_failure);
  sort(&into->relations);
  sort(&into->grants);
  sort(&into->failures);
  sort(&into->domains);
}

// An error leaves the old contents, which stay out of date.
void refresh() {
  while (contents.generation != invalidations) {
    Contents fresh{};
    fresh.generation = invalidations;
    fresh.memory = AllocSetContextCreate(CurrentMemoryContext, "dpquantile protected relations",
                                         ALLOCSET_SMALL_SIZES);
    const MemoryContext previous = MemoryContextSwitchTo(fresh.memory);
    read_contents(&fresh);
    MemoryContextSwitchTo(previous);
    MemoryContextSetParent(fresh.memory, CacheMemoryContext);
    if (contents.memory != nullptr) MemoryContextDelete(contents.memory);
    contents = fresh;
  }
}

// A chain of references that is longer may have no end.
constexpr int kMostSteps = 8;

const char* problem_of_steps(const ProtectedRelation& protection, int most_steps);

bool has_column(const ProtectedRelation& protection) {
  const bool refers = protection.user_column == kUsersOfReference;
  return get_attnum(protection.relation, NameStr(protection.user_column_name)) ==
         (refers ? protection.reference_column : protection.user_column);
}

bool leads_to_persons(const ProtectedRelation& protection, int most_steps) {
  if (protection.user_column == 0 || !has_column(protection)) return false;
  return protection.user_column != kUsersOfReference ||
         problem_of_steps(protection, most_steps) == nullptr;
}

const char* problem_of_steps(const ProtectedRelation& protection, int most_steps) {
  const char* name = get_rel_name(protection.through);
  if (name == nullptr) return "table that says whose its rows are is gone";
  const ProtectedRelation* found = find_protected_relation(protection.through);
  // A copy: what is looked up from now on may read the catalog anew.
  const ProtectedRelation other = found == nullptr ? ProtectedRelation{} : *found;
  if (most_steps == 0 || !leads_to_persons(other, most_steps - 1)) {
    return psprintf("rows refer to \"%s\", which does not lead to persons", name);
  }
  const bool is_of_unit = NameStr(other.unit)[0] != '\0' &&
                          strcmp(NameStr(other.unit), NameStr(protection.unit)) == 0 &&
                          owner_of(other.relation) == owner_of(protection.relation);
  if (!is_of_unit) return psprintf("rows refer to \"%s\", which has another unit or owner", name);
  const char* problem = nullptr;
  (void)find_reference(protection.relation, protection.reference_column, protection.through,
                       &problem);
  if (problem == nullptr) return nullptr;
  return psprintf("column \"%s\" %s", NameStr(protection.user_column_name), problem);
}

bool is_open(const ProtectedRelation& protection) {
  return protection.user_column == 0 || leads_to_persons(protection, kMostSteps);
}

// The role may have been dropped, and another one may have got its OID or its name.
bool is_valid(const Grant& grant) {
  if (!OidIsValid(grant.role)) return false;
  const char* name = GetUserNameFromId(grant.role, true);
  return name != nullptr && strcmp(name, NameStr(grant.role_name)) == 0;
}

PrivateAccess combined(const PrivateAccess& one, const PrivateAccess& other) {
  const bool takes_other = other.epsilon && (!one.epsilon || *other.epsilon > *one.epsilon);
  PrivateAccess access = takes_other ? other : one;
  access.smallest_epsilon = std::min(one.smallest_epsilon, other.smallest_epsilon);
  access.max_epsilon = std::max(one.max_epsilon, other.max_epsilon);
  access.reuse = std::max(one.reuse, other.reuse);
  access.most_cancels = std::max(one.most_cancels, other.most_cancels);
  return access;
}

}  // namespace

void install_protection_catalog() {
  CacheRegisterRelcacheCallback(follow, 0);
}

bool any_protected_relation() {
  if (unlikely(contents.generation != invalidations)) refresh();
  return contents.relations.count > 0;
}

const ProtectedRelation* find_protected_relation(Oid relation) {
  if (!any_protected_relation()) return nullptr;
  const Rows<ProtectedRelation>& relations = contents.relations;
  const ProtectedRelation* found = find(relations, relation);
  const bool exists = found != relations.rows + relations.count && found->relation == relation;
  return exists ? found : nullptr;
}

const char* problem_of_reference(const ProtectedRelation& protection) {
  return problem_of_steps(protection, kMostSteps);
}

UserColumn column_of_users(Oid relation) {
  for (int steps = 0; steps <= kMostSteps; ++steps) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr) break;
    if (protection->user_column > 0) return {relation, protection->user_column};
    relation = protection->through;
  }
  return {};
}

const Reference* reference_to_persons(Oid relation) {
  const ProtectedRelation* protection = find_protected_relation(relation);
  if (protection == nullptr || !OidIsValid(protection->through)) return nullptr;
  const char* problem = nullptr;
  return find_reference(relation, protection->reference_column, protection->through, &problem);
}

bool refer_to_person(Oid relation, const Bitmapset* columns) {
  const Reference* reference = reference_to_persons(relation);
  if (reference == nullptr) return false;
  for (int i = 0; i < reference->columns; ++i) {
    if (!bms_is_member(reference->own[i], columns)) return false;
  }
  return true;
}

namespace {

// How a query asks for rows with others that refer to them.
const char* hint_of_rows_that_refer(const ProtectedRelation& protection) {
  const char* table = get_rel_name(protection.relation);
  const char* through = get_rel_name(protection.through);
  const Reference* reference = reference_to_persons(protection.relation);
  if (reference == nullptr || reference->columns != 1) {
    return psprintf(
        "For rows of \"%s\" that have one of \"%s\" join them in SELECT DISTINCT of the person and "
        "of the columns that you need.",
        through, table);
  }
  return psprintf(
      "Subqueries compare the foreign key alone: EXISTS (SELECT FROM %s WHERE %s.%s = "
      "%s.%s).",
      table, table, get_attname(protection.relation, reference->own[0], false), through,
      get_attname(protection.through, reference->key[0], false));
}

}  // namespace

const char* hint_of_reference(const List* relations) {
  for (const Oid relation : each_oid(relations)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr || protection->user_column != kUsersOfReference) continue;
    const char* table = get_rel_name(relation);
    const char* through = get_rel_name(protection->through);
    return psprintf(
        "The person of a row of \"%s\" is that of the row of \"%s\" to which its column \"%s\" "
        "refers: join the two there by the columns of the foreign key, and name the person by the "
        "column of \"%s\". %s",
        table, through, NameStr(protection->user_column_name), through,
        hint_of_rows_that_refer(*protection));
  }
  return nullptr;
}

List* relations_that_protect_users() {
  List* relations = NIL;
  if (!any_protected_relation()) return relations;
  for (int i = 0; i < contents.relations.count; ++i) {
    const ProtectedRelation& relation = contents.relations.rows[i];
    if (relation.user_column != 0) relations = lappend_oid(relations, relation.relation);
  }
  return relations;
}

std::optional<PrivateAccess> private_access(Oid relation, Oid user) {
  std::optional<PrivateAccess> access;
  const ProtectedRelation* found = find_protected_relation(relation);
  if (found == nullptr) return access;
  // To look at what it refers to may read the tables anew.
  const ProtectedRelation protection = *found;
  if (!is_open(protection) || find_protected_relation(relation) == nullptr) return access;
  const Rows<Grant>& grants = contents.grants;
  const Grant* end = grants.rows + grants.count;
  for (const Grant* grant = find(grants, relation); grant != end && grant->relation == relation;
       ++grant) {
    if (!is_valid(*grant) || !has_privs_of_role(user, grant->role)) continue;
    access = access ? combined(*access, grant->access) : grant->access;
  }
  return access;
}

FailedReads failed_reads(Oid relation, Oid user) {
  FailedReads found = {0, false};
  if (!any_protected_relation()) return found;
  const Rows<Failure>& failures = contents.failures;
  const Failure* end = failures.rows + failures.count;
  for (const Failure* failure = find(failures, relation);
       failure != end && failure->relation == relation; ++failure) {
    if (failure->role != user) continue;
    if (failure->closes) {
      found.any_closes = true;
    } else {
      ++found.cancels;
    }
  }
  return found;
}

List* relations_with_private_access(Oid user) {
  // To look at the roles may read the tables anew, so that the cache changes meanwhile.
  List* all = NIL;
  if (any_protected_relation()) {
    for (int i = 0; i < contents.relations.count; ++i) {
      all = lappend_oid(all, contents.relations.rows[i].relation);
    }
  }
  List* accessible = NIL;
  for (const Oid relation : each_oid(all)) {
    if (private_access(relation, user)) accessible = lappend_oid(accessible, relation);
  }
  return accessible;
}

const ColumnDomain* find_domain(Oid relation, AttrNumber column) {
  if (!any_protected_relation()) return nullptr;
  const Rows<ColumnDomain>& domains = contents.domains;
  const ColumnDomain* end = domains.rows + domains.count;
  for (const ColumnDomain* domain = find(domains, relation);
       domain != end && domain->relation == relation; ++domain) {
    if (domain->column == column && column > 0) {
      const bool is_same = get_atttype(relation, column) == domain->type &&
                           get_attnum(relation, NameStr(domain->name)) == column;
      return is_same ? domain : nullptr;
    }
  }
  return nullptr;
}

}  // namespace dpquantile

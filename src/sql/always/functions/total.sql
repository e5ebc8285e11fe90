CREATE OR REPLACE FUNCTION dpquantile.how_total(function regprocedure) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_how_total';
COMMENT ON FUNCTION dpquantile.how_total(regprocedure) IS
  'function: any function. How a query over protected tables may use it in an expression: ''as it is'', also for values of rows, because it '
  'cannot fail; ''variant'', also for values of rows, where dpquantile.total() is called in its place; ''from text'' and ''to text'', the '
  'input or output function of a type, also for values of rows, as a cast; ''early only'', without columns, because it is evaluated before '
  'the first row; otherwise NULL.';

-- src/pg/vocabulary/function_rule.hpp says where the table of originals is.
CREATE OR REPLACE FUNCTION dpquantile.total(answer anyarray, original oid, VARIADIC arguments "any") RETURNS anyelement
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_total';
COMMENT ON FUNCTION dpquantile.total(anyarray, oid, "any") IS
'What a function of PostgreSQL answers, and NULL where that fails. A private query calls it in the place of the function.
  answer: ''{}'', of an array type: that of the elements is the type of the answer.
  original: the OID of a function of which dpquantile.how_total() says ''variant'', or of the input function of a type, for a cast from text. A constant.
  arguments: of exactly the types of the original''s.';

CREATE OR REPLACE FUNCTION dpquantile.total_stable(answer anyarray, original oid, VARIADIC arguments "any") RETURNS anyelement
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_total_stable';
COMMENT ON FUNCTION dpquantile.total_stable(anyarray, oid, "any") IS
'As dpquantile.total(), for a function whose answer depends on settings, such as the time zone.
  answer, original, arguments: as there.';

CREATE OR REPLACE FUNCTION dpquantile.or_null(answer anyelement, original internal, VARIADIC arguments "any") RETURNS anyelement
  LANGUAGE C STABLE PARALLEL UNSAFE
  AS 'MODULE_PATHNAME', 'dpq_or_null';
COMMENT ON FUNCTION dpquantile.or_null(anyelement, internal, "any") IS
'What a function answers, and NULL with a notice where that fails. A private query calls it, over answers that have been charged, in the place of the function.
  answer: NULL, of the type of the answer.
  original: the function. Only the extension can write it, so nobody else can call this function.
  arguments: those of the function.';

CREATE OR REPLACE FUNCTION dpquantile.only_element(elements anyarray) RETURNS anyelement LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_only_element';
COMMENT ON FUNCTION dpquantile.only_element(anyarray) IS
  'elements: the rows of a subquery of which one value is asked. The only one, or NULL if there is none, and with a notice if there are several.';

-- src/pg/vocabulary/person_aggregates.hpp says where the table of originals is.
CREATE OR REPLACE FUNCTION dpquantile.of_person_transition(state internal, answer anyarray, original oid, VARIADIC arguments "any") RETURNS internal
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_of_person_transition';
CREATE OR REPLACE FUNCTION dpquantile.of_person_final(state internal, answer anyarray, original oid, VARIADIC arguments "any") RETURNS anyelement
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_of_person_final';

CREATE OR REPLACE AGGREGATE dpquantile.of_person(answer anyarray, original oid, VARIADIC arguments "any") (
  SFUNC = dpquantile.of_person_transition,
  STYPE = internal,
  SSPACE = 128,
  FINALFUNC = dpquantile.of_person_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE dpquantile.of_person(anyarray, oid, "any") IS
'What an aggregate of PostgreSQL answers, whatever the order of the rows is, and NULL where that fails. A private query calls it in the place of the aggregate for the rows of each person, below a private aggregate.
  answer: ''{}'', of an array type: that of the elements is the type of the answer.
  original: the OID of an aggregate of which dpquantile.how_total() says ''variant of a person'', or of count("any"), for count(DISTINCT value). A constant.
  arguments: a value. For a percentile also the fraction, and whether the order is descending.';

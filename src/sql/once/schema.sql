-- This schema has the tables, the state type of the aggregates and the support functions. The objects
-- for users are in the schema chosen by CREATE EXTENSION.
CREATE SCHEMA dpquantile;

-- Of float8, which PostgreSQL prefers to other types of numbers: with a float8 as the third argument of a variant of dp_options,
-- dp_options('tree', NULL, 64) could mean this variant.
CREATE DOMAIN dpquantile.amount AS float8;
COMMENT ON DOMAIN dpquantile.amount IS 'An epsilon, delta or rho.';

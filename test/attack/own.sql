-- What the analyst makes: types, casts, operators and aggregates that private aggregates may meet, and rows that sessions lock.
SET search_path = own, public;
CREATE TYPE own.years AS (n float8);
CREATE DOMAIN own.ages AS float8 CHECK (value >= 0);
CREATE FUNCTION own.same(float8) RETURNS float8 LANGUAGE sql VOLATILE AS 'SELECT $1';
CREATE FUNCTION own.failing(float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN IF random() < 0.0005 THEN RAISE 'own error'; END IF; RETURN $1; END $$;
CREATE FUNCTION own.caught(text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text; BEGIN EXECUTE $1 INTO answer; RETURN answer; EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$;
CREATE FUNCTION own.twice(text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE answer text; c refcursor; BEGIN OPEN c FOR EXECUTE $1; FETCH c INTO answer; RETURN NEXT answer; MOVE BACKWARD ALL FROM c; FETCH c INTO answer; RETURN NEXT answer; CLOSE c; END $$;
CREATE FUNCTION own.told(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'answer %', $1; RETURN true; END $$;
CREATE FUNCTION own.add(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE OPERATOR own.+~ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = own.add);
CREATE AGGREGATE own.total(float8) (SFUNC = own.add, STYPE = float8, INITCOND = '0', PARALLEL = SAFE);
CREATE TABLE own.line (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, answer text);
INSERT INTO own.line (id) VALUES (1), (2), (3);
GRANT USAGE ON SCHEMA own TO poor;
GRANT SELECT, UPDATE ON own.line TO poor;

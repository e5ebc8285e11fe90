-- threat 55: below a private aggregate one row may change the values of others. How many values of the aggregate's input
-- are added or removed when one row is added: the answer protects the row so many times less.
CREATE TEMP TABLE reading (t int, x int);
INSERT INTO reading SELECT i * 10, (i * 37) % 101 FROM generate_series(1, 20) i;
CREATE FUNCTION pg_temp.changed_values(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  changed bigint;
BEGIN
  EXECUTE format('CREATE TEMP TABLE before AS %s', query);
  INSERT INTO reading VALUES (115, 45);
  EXECUTE format('CREATE TEMP TABLE after AS %s', query);
  DELETE FROM reading WHERE t = 115;
  SELECT count(*) INTO changed
    FROM ((TABLE before EXCEPT ALL TABLE after) UNION ALL (TABLE after EXCEPT ALL TABLE before)) d;
  DROP TABLE before, after;
  RETURN changed;
END
$$;

SELECT pg_temp.changed_values(query) AS values, query
  FROM (VALUES (1, 'SELECT x FROM reading'),
               (2, 'SELECT x * 2 FROM reading WHERE x < 90'),
               (3, 'SELECT x - lag(x) OVER (ORDER BY t) FROM reading'),
               (4, 'SELECT x - lag(x, 2) OVER (ORDER BY t) FROM reading'),
               (5, 'SELECT avg(x) OVER (ORDER BY t ROWS 6 PRECEDING) FROM reading'),
               (6, 'SELECT x FROM reading ORDER BY t LIMIT 15'),
               (7, 'SELECT x FROM reading ORDER BY t OFFSET 15'),
               (8, 'SELECT DISTINCT ON (t / 20) x FROM reading ORDER BY t / 20, t DESC'),
               (9, 'SELECT rank() OVER (ORDER BY x) FROM reading'),
               (10, 'SELECT rank() OVER (ORDER BY x) * 1000 + x FROM reading'),
               (11, 'SELECT sum(x) OVER (ORDER BY t) FROM reading'),
               (12, 'SELECT a.x FROM reading a JOIN reading b ON b.t <= a.t')) q (number, query)
 ORDER BY number;

DROP FUNCTION pg_temp.changed_values(text);
DROP TABLE reading;

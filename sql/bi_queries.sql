-- Queries in the shapes that BI tools write, over a protected table. Epsilon is so large that counts are exact.
SET timezone = 'UTC';
SET datestyle = ISO;
CREATE ROLE regress_dpq_bi_owner LOGIN;
CREATE ROLE regress_dpq_bi_analyst LOGIN;
CREATE SCHEMA regress_dpq_bi AUTHORIZATION regress_dpq_bi_owner;
GRANT USAGE ON SCHEMA regress_dpq_bi TO regress_dpq_bi_analyst;
SELECT dp_grant_budget('regress_dpq_bi_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_bi_analyst');
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
SET search_path = regress_dpq_bi, public;
SET timezone = 'UTC';
CREATE TABLE city (name text PRIMARY KEY, region text);
INSERT INTO city VALUES ('Oslo', 'North'), ('Paris', 'South'), ('Rome', 'South');
GRANT SELECT ON city TO regress_dpq_bi_analyst;
CREATE TABLE visits (
  id int PRIMARY KEY, patient int, city text NOT NULL, department text NOT NULL, amount numeric NOT NULL, at timestamptz NOT NULL, born date, urgent boolean);
-- One each 20 minutes of 2024, from January to the beginning of October
INSERT INTO visits
  SELECT i, i % 900, (ARRAY['Oslo','Paris','Rome'])[1 + i % 3], (ARRAY['ENT','Surgery'])[1 + i % 2], (i * 37 % 200)::numeric + 0.5,
         timestamptz '2024-01-01 UTC' + i * interval '20 minutes', date '1950-01-01' + i % 20000, i % 4 = 0
    FROM generate_series(0, 19999) i;
SELECT dp_protect_table('visits');
SELECT dp_set_domain('visits', 'amount', 0, 200, 0.5), dp_set_domain('visits', 'department', '{ENT,Surgery}'),
       dp_set_domain('visits', 'at', '2024-01-01 UTC'::timestamptz, '2024-12-31 23:59 UTC'), dp_set_domain('visits', 'born', '1920-01-01', '2024-01-01');
SELECT dp_grant_private_access('visits', 'regress_dpq_bi_analyst', epsilon => 100, delta => 1e-6);

SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
SET search_path = regress_dpq_bi, public;
SET timezone = 'UTC';
SET datestyle = ISO;

-- Apache Superset: time grains (db_engine_specs/postgres.py), virtual datasets, filter lists, series limits (models/helpers.py, commit 0031555)
SELECT DATE_TRUNC('month', at) AS at, department AS department, COUNT(*) AS count
  FROM regress_dpq_bi.visits
 WHERE at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
 GROUP BY DATE_TRUNC('month', at), department ORDER BY count DESC, at, department LIMIT 10000;
SELECT department AS department, COUNT(*) AS count FROM (SELECT * FROM visits) AS virtual_table GROUP BY department ORDER BY count DESC LIMIT 1000;
SELECT COUNT(DISTINCT patient) AS "COUNT_DISTINCT(patient)" FROM regress_dpq_bi.visits LIMIT 50000;
SELECT DISTINCT city AS column_values FROM regress_dpq_bi.visits LIMIT 10000;
SELECT DISTINCT department AS column_values FROM regress_dpq_bi.visits LIMIT 10000;
SELECT city AS city FROM regress_dpq_bi.visits GROUP BY city LIMIT 1000;
SELECT department AS department FROM regress_dpq_bi.visits GROUP BY department LIMIT 1000;
SELECT DATE_TRUNC('week', at) AS at, COUNT(*) AS count FROM visits WHERE at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-01-15 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('week', at) ORDER BY count DESC LIMIT 3;
SELECT DATE_TRUNC('month', at) AS at, department AS department, COUNT(*) AS count
  FROM regress_dpq_bi.visits JOIN (SELECT department AS department__, COUNT(*) AS mme_inner__ FROM regress_dpq_bi.visits GROUP BY department ORDER BY mme_inner__ DESC LIMIT 1) AS series_limit ON department = department__
  GROUP BY DATE_TRUNC('month', at), department ORDER BY count DESC LIMIT 10000;
-- It groups the others: a CASE has the lists of its results, and of what a left join has found those of the subquery.
SELECT CASE WHEN series_limit.department__ IS NOT NULL THEN department ELSE 'Others' END AS department, COUNT(*) AS count
  FROM regress_dpq_bi.visits LEFT JOIN (SELECT department AS department__, COUNT(*) AS mme_inner__ FROM regress_dpq_bi.visits WHERE amount < 100 OR department = 'Surgery' GROUP BY department ORDER BY mme_inner__ DESC LIMIT 1) AS series_limit ON department = department__
  GROUP BY CASE WHEN series_limit.department__ IS NOT NULL THEN department ELSE 'Others' END ORDER BY count DESC, 1 LIMIT 10000;
SELECT CASE WHEN l.name IS NULL THEN department ELSE 'listed' END AS department, COUNT(*) AS count FROM visits LEFT JOIN (VALUES ('ENT')) l (name) ON l.name = department GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN urgent THEN 'ENT' WHEN amount > 100 THEN department ELSE upper(department) END AS department, COUNT(*) AS count FROM visits GROUP BY 1 ORDER BY 1;
-- Its grains of several minutes, whose keys are computed of several parts of a time; other keys of this kind
SELECT DATE_TRUNC('hour', at) + INTERVAL '30 minutes' * FLOOR(EXTRACT(MINUTE FROM at) / 30) AS at, COUNT(*) AS count FROM visits
 WHERE at >= TO_TIMESTAMP('2024-02-01 06:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-02-01 07:30:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
 GROUP BY DATE_TRUNC('hour', at) + INTERVAL '30 minutes' * FLOOR(EXTRACT(MINUTE FROM at) / 30) ORDER BY 1;
SELECT extract(year FROM at) * 100 + extract(month FROM at) AS month, count(*) FROM visits WHERE at < '2024-03-01' GROUP BY 1 ORDER BY 1;
SELECT extract(isodow FROM at) * 100 + extract(hour FROM at) AS hour, count(*) FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
-- Formats of a time: each row is in a group, also where the clock changes.
SELECT to_char(at, 'YYYY-MM') AS month, count(*) FROM visits WHERE at >= '2024-02-01' AND at < '2024-04-01' GROUP BY 1 ORDER BY 1;
SELECT to_char(date_trunc('quarter', at), 'Q/YYYY') AS quarter, count(*) FROM visits GROUP BY 1 ORDER BY 1;
SELECT upper(to_char(born, 'FMMonth')) AS month, count(*) FROM visits WHERE born < '1950-03-01' AND born >= '1950-01-01' GROUP BY 1 ORDER BY 1;
SET timezone = 'America/New_York';
SELECT format('SELECT %L AS format, count(*) AS groups, sum(n) AS rows FROM (SELECT to_char(at, %L) AS key, count(*) AS n FROM visits GROUP BY 1) AS s', f, f)
  FROM unnest('{YYYY-MM,Mon YY,fmmonth,RM,Q,YYYY \"Q\"Q,"Y,YYY",CC,IYYY-IW,IDDD,ID,WW,W,DD.MM.YYYY,FMDDth,DDD,D,Dy,DAY,J}'::text[]) AS f \gexec
SET timezone = 'UTC';
-- A month may begin within a week.
SELECT extract(week FROM at) * 100 + extract(month FROM at) AS x, count(*) FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
-- Not of a time alone: chosen privately
SELECT extract(month FROM at) * 100 + patient % 2 AS x, count(*) FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT to_char(at, 'TMMonth') AS x, count(*) FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT to_char(at, 'MM OF') AS x, count(*) FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT to_char(at, department) AS x, count(*) FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
EXPLAIN SELECT COUNT(*) AS count FROM regress_dpq_bi.visits;
SELECT MIN(at), MAX(at) FROM regress_dpq_bi.visits;
SELECT * FROM regress_dpq_bi.visits LIMIT 1001;

-- Adminer 4.8.1, captured: its list of tables, a table, functions on the page "Select data"
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = current_schema()
UNION ALL
SELECT matviewname, 'MATERIALIZED VIEW'
FROM pg_matviews
WHERE schemaname = current_schema()
ORDER BY 1;
SELECT c.relname AS "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view' ELSE 'view' END AS "Engine", pg_relation_size(c.oid) AS "Data_length", pg_total_relation_size(c.oid) - pg_relation_size(c.oid) AS "Index_length", obj_description(c.oid, 'pg_class') AS "Comment", '' AS "Oid", c.reltuples as "Rows", n.nspname
FROM pg_class c
JOIN pg_namespace n ON(n.nspname = current_schema() AND n.oid = c.relnamespace)
WHERE relkind IN ('r', 'm', 'v', 'f', 'p')
ORDER BY relname;
SELECT COUNT(*), COUNT(DISTINCT "patient"), "department"
FROM "visits"
GROUP BY "department"
ORDER BY "department"
LIMIT 50;
SELECT *
FROM "visits"
LIMIT 50;

-- Cube 0.31.69, captured from examples/bi and its API: other names of tables and columns, constants for some answers
SELECT
      count(*) "visits__count", dp_error_of(count(*)) < 1 "visits__count_error", avg("visits".amount) BETWEEN 99 AND 101 "visits__wait", dp_error_of(avg("visits".amount)) < 1 "visits__wait_error"
    FROM
      visits AS "visits" ;
SELECT
      date_trunc('month', ("visits".at::timestamptz AT TIME ZONE 'UTC')) "visits__at_month", count(*) "visits__count", dp_error_of(count(*)) < 1 "visits__count_error"
    FROM
      visits AS "visits"  GROUP BY 1 ORDER BY 1 ASC;
SELECT
      "visits".department "visits__department", percentile_cont(0.25) WITHIN GROUP (ORDER BY "visits".amount) BETWEEN 45 AND 55 "visits__lower_quartile", percentile_cont(0.5) WITHIN GROUP (ORDER BY "visits".amount) BETWEEN 95 AND 105 "visits__median", percentile_cont(0.75) WITHIN GROUP (ORDER BY "visits".amount) BETWEEN 145 AND 155 "visits__upper_quartile"
    FROM
      visits AS "visits"  GROUP BY 1 ORDER BY 1 ASC;
SELECT
      floor("visits".amount / 50.0) * 50 "visits__ten_minutes", count(*) "visits__count", dp_error_of(count(*)) < 1 "visits__count_error"
    FROM
      visits AS "visits"  GROUP BY 1 ORDER BY 1 ASC;
PREPARE months AS SELECT
      "visits".department "visits__department", date_trunc('month', ("visits".at::timestamptz AT TIME ZONE 'UTC')) "visits__at_month", count(*) "visits__count"
    FROM
      visits AS "visits"  WHERE ("visits".at >= $1::timestamptz AND "visits".at <= $2::timestamptz) GROUP BY 1, 2 ORDER BY 2 ASC;
EXECUTE months ('2024-01-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z');
SET plan_cache_mode = force_generic_plan;
EXECUTE months ('2024-02-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z');
RESET plan_cache_mode;
PREPARE chosen AS SELECT
      "visits".department "visits__department", count(*) "visits__count"
    FROM
      visits AS "visits"  WHERE ("visits".department IN ($1, $2)) GROUP BY 1 ORDER BY 2 DESC LIMIT 3;
EXECUTE chosen ('Surgery', 'Eye');
SELECT
      "visits".department "visits__department"
    FROM
      visits AS "visits"  GROUP BY 1 ORDER BY 1 ASC;
PREPARE containing AS SELECT
      "visits".department "visits__department", count(*) "visits__count"
    FROM
      visits AS "visits"  WHERE ("visits".department ILIKE '%' || $1 || '%') GROUP BY 1 ORDER BY 2 DESC;
EXECUTE containing ('urg');
PREPARE since AS SELECT
      count(*) "visits__count"
    FROM
      visits AS "visits"  WHERE ("visits".at > $1::timestamptz);
EXECUTE since ('2024-06-01T00:00:00.000Z');

-- Metabase: the tables of a database, days, weeks and parts of dates (driver/postgres.clj, commit 008fd66), numbers in bins, subqueries
SELECT "n"."nspname" AS "schema", "c"."relname" AS "name", CASE "c"."relkind" WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS "type", "d"."description" AS "description", "stat"."n_live_tup" AS "estimated_row_count"
  FROM "pg_catalog"."pg_class" AS "c" INNER JOIN "pg_catalog"."pg_namespace" AS "n" ON "c"."relnamespace" = "n"."oid"
  LEFT JOIN "pg_catalog"."pg_description" AS "d" ON ("c"."oid" = "d"."objoid") AND ("d"."objsubid" = 0) AND ("d"."classoid" = 'pg_class'::regclass)
  LEFT JOIN "pg_stat_user_tables" AS "stat" ON ("n"."nspname" = "stat"."schemaname") AND ("c"."relname" = "stat"."relname")
 WHERE ("c"."relnamespace" = "n"."oid") AND ("n"."nspname" !~ '^pg_') AND ("n"."nspname" <> 'information_schema') AND c.relkind in ('r', 'p', 'v', 'f', 'm') AND ("n"."nspname" IN ('regress_dpq_bi'))
 ORDER BY "type" ASC, "schema" ASC, "name" ASC;
with table_privileges as (
 select
   NULL as role,
   t.schemaname as schema,
   t.objectname as table,
   pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'update') as update,
   pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'select') as select,
   pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'insert') as insert,
   pg_catalog.has_table_privilege(     current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"',  'delete') as delete
 from (
   select schemaname, tablename as objectname from pg_catalog.pg_tables
   union
   select schemaname, viewname as objectname from pg_catalog.pg_views
   union
   select schemaname, matviewname as objectname from pg_catalog.pg_matviews
 ) t
 where t.schemaname !~ '^pg_'
   and t.schemaname <> 'information_schema'
   and pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage')
)
select t.*
from table_privileges t where schema = 'regress_dpq_bi' order by 3;
SELECT "visits"."department" AS "department" FROM "regress_dpq_bi"."visits" GROUP BY "visits"."department" ORDER BY "visits"."department" ASC LIMIT 1001;
SELECT "visits"."id" AS "id", SUBSTRING("visits"."city", 1, 1234) AS "substring1" FROM "regress_dpq_bi"."visits" LIMIT 10000;
SELECT CAST(CAST("visits"."at" AS date) AS timestamptz) AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" WHERE ("visits"."at" >= timestamp with time zone '2024-02-01 00:00:00.000Z') AND ("visits"."at" < timestamp with time zone '2024-02-04 00:00:00.000Z') GROUP BY CAST(CAST("visits"."at" AS date) AS timestamptz) ORDER BY CAST(CAST("visits"."at" AS date) AS timestamptz) ASC;
SELECT (DATE_TRUNC('week', ("visits"."at" + INTERVAL '1 day')) + INTERVAL '-1 day') AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" WHERE ("visits"."at" >= timestamp with time zone '2024-02-01 00:00:00.000Z') AND ("visits"."at" < timestamp with time zone '2024-02-20 00:00:00.000Z') GROUP BY (DATE_TRUNC('week', ("visits"."at" + INTERVAL '1 day')) + INTERVAL '-1 day') ORDER BY 1;
SELECT CAST(DATE_TRUNC('month', CAST("visits"."born" AS date)) AS date) AS "born", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" WHERE "visits"."born" < date '1950-04-01' GROUP BY CAST(DATE_TRUNC('month', CAST("visits"."born" AS date)) AS date) ORDER BY 2 DESC LIMIT 2;
SELECT CAST(extract(quarter from "visits"."at") AS integer) AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" GROUP BY 1 ORDER BY 1;
SELECT ((CAST(extract(dow from "visits"."at") AS integer) + 1)) AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" GROUP BY 1 ORDER BY 1;
SELECT "regress_dpq_bi"."visits"."department" AS "department", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits"
 GROUP BY "regress_dpq_bi"."visits"."department" ORDER BY "regress_dpq_bi"."visits"."department" ASC;
SELECT CAST(DATE_TRUNC('month', "visits"."at") AS date) AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits"
 GROUP BY CAST(DATE_TRUNC('month', "visits"."at") AS date) ORDER BY CAST(DATE_TRUNC('month', "visits"."at") AS date) ASC;
SELECT CAST("visits"."at" AS date) AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits"
 WHERE "visits"."at" >= timestamp with time zone '2024-02-01 00:00:00.000Z' AND "visits"."at" < timestamp with time zone '2024-02-04 00:00:00.000Z'
 GROUP BY CAST("visits"."at" AS date) ORDER BY 1;
SELECT (FLOOR((("visits"."amount" - 0.0) / 50.0)) * 50.0) + 0.0 AS "amount", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits"
 GROUP BY (FLOOR((("visits"."amount" - 0.0) / 50.0)) * 50.0) + 0.0 ORDER BY 1;
SELECT "source"."department", AVG("source"."count")::int
  FROM (SELECT "visits"."department" AS "department", DATE_TRUNC('month', "visits"."at") AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits"
         WHERE "visits"."at" < '2024-10-01' GROUP BY 1, 2) AS "source"
 GROUP BY "source"."department" ORDER BY 1;
SELECT COUNT(*) AS "count", SUM(CASE WHEN "visits"."urgent" = TRUE THEN 1 ELSE 0.0 END)::int AS "urgent" FROM "regress_dpq_bi"."visits";
SELECT PERCENTILE_CONT(0.5) within group (order by "visits"."amount") BETWEEN 95 AND 105 AS "median" FROM "regress_dpq_bi"."visits";
-- Metabase's aggregations, running totals, conditions and questions on questions (driver/sql/query_processor.clj, commit 0041072)
SELECT STDDEV_POP("visits"."amount") BETWEEN 55 AND 60 AS "stddev", VAR_POP("visits"."amount") BETWEEN 3000 AND 3600 AS "var" FROM "regress_dpq_bi"."visits";
SELECT DATE_TRUNC('month', "visits"."at") AS "at", SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', "visits"."at") ASC ROWS UNBOUNDED PRECEDING) AS "count" FROM "regress_dpq_bi"."visits"
 WHERE ("visits"."at" >= timestamp with time zone '2024-02-01 00:00:00.000Z') AND ("visits"."at" < timestamp with time zone '2024-04-01 00:00:00.000Z')
 GROUP BY DATE_TRUNC('month', "visits"."at") ORDER BY DATE_TRUNC('month', "visits"."at") ASC;
SELECT round(CAST(SUM(CASE WHEN "visits"."urgent" = TRUE THEN 1 ELSE 0.0 END) / COUNT(*) AS numeric), 2) AS "share" FROM "regress_dpq_bi"."visits";
SELECT COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" WHERE ("visits"."department" <> 'ENT') OR ("visits"."department" IS NULL);
SELECT COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" WHERE NOT (LOWER("visits"."city") LIKE '%o%') OR ("visits"."city" IS NULL);
SELECT "source"."what" AS "what", COUNT(*) AS "count" FROM (SELECT "visits"."id" AS "id", UPPER("visits"."department") AS "what" FROM "regress_dpq_bi"."visits") AS "source"
 GROUP BY "source"."what" ORDER BY "source"."what" ASC;
SELECT "source"."department" AS "department", "source"."count" AS "count" FROM (SELECT "visits"."department" AS "department", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits"
   GROUP BY "visits"."department" ORDER BY "visits"."department" ASC) AS "source" WHERE "source"."count" > 10 LIMIT 1048575;
SELECT COALESCE("visits"."department", 'none') AS "department", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" GROUP BY COALESCE("visits"."department", 'none') ORDER BY 1;
SELECT CAST(extract(year from "visits"."at") AS integer) AS "at", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" WHERE "visits"."at" >= timestamp with time zone '2024-02-01 00:00:00.000Z' GROUP BY CAST(extract(year from "visits"."at") AS integer);
SELECT CONCAT("visits"."department", '-', "visits"."urgent") AS "x", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" GROUP BY CONCAT("visits"."department", '-', "visits"."urgent");
SELECT SUM("visits"."amount" / CASE WHEN "visits"."patient" = 0 THEN NULL ELSE "visits"."patient" END) AS "sum" FROM "regress_dpq_bi"."visits";

-- Grafana: the tables and columns of its query builder (postgresMetaQuery.ts, commit 12f912a), the macros of time groups and filters (macros.go, commit 02ab314)
SELECT quote_ident(table_name) AS "table"
      FROM information_schema.tables
      WHERE quote_ident(table_schema) = 'regress_dpq_bi'
      ORDER BY 1;
SELECT quote_ident(column_name) AS "column", data_type AS "type"
    FROM information_schema.columns
    WHERE
      CASE WHEN array_length(parse_ident('visits'),1) = 2
        THEN quote_ident(table_schema) = (parse_ident('visits'))[1]
          AND quote_ident(table_name) = (parse_ident('visits'))[2]
        ELSE quote_ident(table_name) = 'visits'
          AND 
          quote_ident(table_schema) IN (
          SELECT
            CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM
            generate_series(
              array_lower(string_to_array(current_setting('search_path'),','),1),
              array_upper(string_to_array(current_setting('search_path'),','),1)
            ) as i,
            string_to_array(current_setting('search_path'),',') s
          )
      END;
SELECT floor(extract(epoch from at)/21600)*21600 AS "time", department AS metric, count(*) AS value FROM visits WHERE at BETWEEN '2024-02-01T00:00:00Z' AND '2024-02-01T23:59:59.999Z' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT floor(extract(epoch from at)/21600)*21600 AS "time", city AS metric, count(*) AS value FROM visits WHERE at BETWEEN '2024-02-01T00:00:00Z' AND '2024-02-01T23:59:59.999Z' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT floor(extract(epoch from at)/86400)*86400 AS "time", count(*) FROM visits WHERE at BETWEEN '2024-02-01T00:00:00Z' AND '2024-02-03T23:59:59Z' GROUP BY 1 ORDER BY 1;
SELECT date_bin('6 hours', at, timestamptz '2024-01-01 UTC') AS "time", count(*) FROM visits WHERE at BETWEEN '2024-02-01T00:00:00Z' AND '2024-02-01T23:59:59Z' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('day', at) AS "time", city AS metric, count(*) AS value FROM visits WHERE at BETWEEN '2024-02-01T00:00:00Z' AND '2024-02-01T23:59:59Z' GROUP BY 1, 2 ORDER BY 1, 2;

-- Tableau: cursors, sum(1); its formulas of PostgreSQL (connector-plugin-sdk, samples/plugins/postgres_jdbc/dialect.tdd, commit 267ff22)
BEGIN;
DECLARE "SQL_CUR1" CURSOR WITH HOLD FOR
  SELECT "visits"."department" AS "department", SUM(1) AS "cnt:ok", AVG(CAST("visits"."amount" AS DOUBLE PRECISION)) BETWEEN 97 AND 103 AS "avg:amount:ok"
    FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1;
FETCH 10000 IN "SQL_CUR1";
COMMIT;
CLOSE "SQL_CUR1";
SELECT CAST(TRUNC(EXTRACT(YEAR FROM "visits"."at")) AS INTEGER) AS "yr:at:ok", COUNT(1) AS n FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1;
SELECT DATE_TRUNC('MONTH', CAST("visits"."at" AS TIMESTAMP)) AS "tmn:at:ok", COUNT(1) AS n FROM "regress_dpq_bi"."visits" "visits" WHERE ("visits"."city" IN ('Oslo', 'Rome')) GROUP BY 1 ORDER BY 1;
SELECT DISTINCT "visits"."department" AS "department" FROM "regress_dpq_bi"."visits" "visits" ORDER BY 1 ASC;
SELECT "visits"."city" AS "city", SUM(1) AS "Number of Records" FROM "regress_dpq_bi"."visits" "visits" WHERE 1 = 0 GROUP BY 1;
SELECT (1 + CAST(EXTRACT(DOW FROM "visits"."at") AS INTEGER)) AS "wd:at:ok", SUM(1) AS n FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 HAVING (COUNT(1) > 0) ORDER BY 1 LIMIT 2;
SELECT CAST(FLOOR((7 + EXTRACT(DOY FROM "visits"."at") - 1 + EXTRACT(DOW FROM DATE_TRUNC('YEAR', "visits"."at"))) / 7) AS INTEGER) AS "wk:at:ok", SUM(1) AS n FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT (LEAST(CAST((EXTRACT(WEEK FROM "visits"."at") - 1) AS BIGINT) / 13, 3) + 1) AS "iq:at:ok", SUM(1) AS n FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 ORDER BY 1;
SELECT (CAST(DATE_TRUNC( 'DAY', CAST("visits"."at" AS TIMESTAMP)) AS DATE) - (((7 + CAST(EXTRACT(DOW FROM "visits"."at") AS BIGINT) - 1) % 7) * INTERVAL '1 DAY')) AS "twk:at:ok", SUM(1) AS n
  FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT CAST(TRUNC(EXTRACT(YEAR FROM "visits"."born")) AS INTEGER) AS "yr:born:ok", SUM(1) AS n FROM "regress_dpq_bi"."visits" "visits"
 WHERE (("visits"."born" >= (DATE '1950-01-01')) AND ("visits"."born" < (DATE '1952-01-01'))) GROUP BY 1 ORDER BY 1;
SELECT TO_CHAR("visits"."at", 'FMMonth') AS "mn:at:ok", SUM(1) > 2000 AS n FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT (CASE WHEN COUNT("visits"."amount") = 1 THEN 0.0 WHEN COUNT("visits"."amount") > 0 THEN (STDDEV("visits"."amount") * SQRT(COUNT("visits"."amount") - 1) / SQRT(COUNT("visits"."amount")) ) ELSE NULL END)
       BETWEEN 55 AND 60 AS "stdevp" FROM "regress_dpq_bi"."visits" "visits" HAVING (COUNT(1) > 0);
SELECT (CASE WHEN ("visits"."amount" >= 100) THEN 'high' WHEN NOT ("visits"."amount" >= 100) THEN 'low' ELSE NULL END) AS "band", SUM(1) AS n FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 ORDER BY 1;
SELECT CAST(FLOOR("visits"."amount" / 100) AS BIGINT) AS "bin", SUM(1) AS n FROM "regress_dpq_bi"."visits" "visits" WHERE (STRPOS(CAST("visits"."city" AS TEXT),CAST(E'o' AS TEXT)) > 0) GROUP BY 1 ORDER BY 1;
SELECT TO_DATE(TO_CHAR("visits"."at", 'IYYY-01'), 'IYYY-IW') AS "iyr:at:ok", SUM(1) FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1;
SELECT BOOL_OR("visits"."urgent") FROM "regress_dpq_bi"."visits" "visits";
-- What the hints say in their place
SELECT date_trunc('week', make_date(extract(isoyear FROM at)::int, 1, 4))::date AS iso_year, sum(1) > 0 AS rows FROM visits GROUP BY 1;
SELECT count(*) FILTER (WHERE urgent) > 0 AS bool_or, count(*) FILTER (WHERE NOT urgent) = 0 AS bool_and, avg(urgent::int) BETWEEN 0 AND 1 AS share FROM visits;
SELECT "visits"."department", SUM(1) FROM "regress_dpq_bi"."visits" "visits"
 INNER JOIN (SELECT "visits"."department" AS "department", SUM(1) AS "$__alias__0" FROM "regress_dpq_bi"."visits" "visits" GROUP BY 1 ORDER BY 2 DESC, 1 ASC LIMIT 1) "t0" ON ("visits"."department" IS NOT DISTINCT FROM "t0"."department") GROUP BY 1;

-- Power BI: nested queries around the table
select "_"."department" as "c5", "_"."a0" as "a0" from (select "rows"."department" as "department", count("rows"."amount") as "a0" from (select "department", "amount" from "regress_dpq_bi"."visits" "$Table") "rows" group by "department") "_" where not "_"."a0" is null limit 1000001;
select count(*) as "$Item" from (select 1 from "regress_dpq_bi"."visits") "_";
-- Its number of different values counts NULL as one. Where there is none it adds nothing, also with groups.
select count(distinct("rows"."department")) + max(case when "rows"."department" is null then 1 else 0 end) as "a0" from "regress_dpq_bi"."visits" "rows";
select "rows"."department" as "c1", count(distinct("rows"."city")) + max(case when "rows"."city" is null then 1 else 0 end) as "a0" from "regress_dpq_bi"."visits" "rows" group by "department" order by 1;
select max(case when "urgent" is null then 1 else 0 end) as "may be" from "regress_dpq_bi"."visits";

-- Looker: dates of filters in subqueries without tables, months as texts, sums that are never NULL
SELECT (TO_CHAR(DATE_TRUNC('month', visits.at), 'YYYY-MM')) AS "visits.at_month", COALESCE(SUM(visits.amount), 0) BETWEEN 190000 AND 240000 AS "visits.amount", COUNT(*) AS "visits.count"
  FROM regress_dpq_bi.visits AS visits
 WHERE ((( visits.at ) >= ((SELECT (DATE_TRUNC('month', TIMESTAMP '2024-03-15') + (-1 || ' month')::INTERVAL))) AND ( visits.at ) < ((SELECT TIMESTAMP '2024-04-01'))))
 GROUP BY 1 ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY;
SELECT COUNT(*) FROM visits WHERE amount > (SELECT (SELECT 100)) AND (SELECT department) = 'ENT' HAVING COUNT(*) > (SELECT 1);
SELECT COUNT(*) FROM visits WHERE amount > (SELECT random());

-- Lightdash: weeks that begin on Sunday, days of the week from Monday (timeFrames.ts, commit 00a13e2), a pivot of noisy answers
SELECT (DATE_TRUNC('WEEK', ("visits".at - interval '6 days')) + interval '6 days') AS "visits_at_week", COUNT(*) AS "visits_count"
  FROM "regress_dpq_bi"."visits" AS "visits" WHERE ("visits".at) >= ('2024-02-01') AND ("visits".at) < ('2024-02-12') GROUP BY 1 ORDER BY 1 LIMIT 500;
SELECT MOD(CAST(DATE_PART('DOW', "visits".at) AS INT) - 1 + 7, 7) + 1 AS "visits_at_day", COUNT(*) > 2000 AS "many" FROM "regress_dpq_bi"."visits" AS "visits" GROUP BY 1 ORDER BY 1 LIMIT 2;
WITH asked AS (SELECT department, DATE_TRUNC('MONTH', at) AS at_month, COUNT(*) AS n FROM visits WHERE at < '2024-03-01' GROUP BY 1, 2),
     ranked AS (SELECT *, DENSE_RANK() OVER (ORDER BY at_month) AS row_index, DENSE_RANK() OVER (ORDER BY department) AS column_index FROM asked)
  SELECT r.*, t.columns FROM ranked r CROSS JOIN (SELECT COUNT(DISTINCT department) AS columns FROM ranked) t ORDER BY row_index, column_index;

-- Joins with a public dimension, keys of few values, computed keys, conditions on keys and on what they are computed of
SELECT c.region, count(*) FROM visits v JOIN city c ON c.name = v.city GROUP BY c.region ORDER BY 1;
SELECT lower(department) AS department, urgent, count(*) FROM visits WHERE urgent AND lower(department) <> 'ent' GROUP BY 1, 2;
SELECT extract(hour FROM at)::int / 6 AS quarter, count(*) FROM visits GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', at, 'Asia/Tokyo') AS month, count(*) FROM visits WHERE at >= '2024-09-15' AND '2024-10-02' > at GROUP BY 1 ORDER BY 1;
SELECT at AT TIME ZONE 'Asia/Tokyo' > '2024-06-01' AS late, count(*) FROM visits GROUP BY 1;
SELECT floor(amount / 100) AS hundreds, count(*) FROM visits WHERE amount >= 100 GROUP BY 1;
SELECT round(avg(urgent::int), 2) AS urgent, sum(least(amount, 100)) BETWEEN 1450000 AND 1550000 AS least, sum(abs(amount - 100)) BETWEEN 900000 AND 1100000 AS away FROM visits;
PREPARE days (timestamptz, timestamptz) AS SELECT at::date AS day, count(*) FROM visits WHERE at >= $1 AND at < $2 GROUP BY 1 ORDER BY 1;
EXECUTE days ('2024-05-01', '2024-05-03');
SET plan_cache_mode = force_generic_plan;
EXECUTE days ('2024-05-02', '2024-05-04');
-- threat 339: a plan has the groups of a time zone, and none is kept.
SET timezone = 'Asia/Tokyo';
EXECUTE days ('2024-05-02', '2024-05-04');
-- So it is for a plan of nothing but the list, which reads no row.
PREPARE quarters AS SELECT DISTINCT date_trunc('quarter', at) AS quarter FROM visits ORDER BY 1;
EXECUTE quarters;
SET timezone = 'UTC';
EXECUTE quarters;
-- A cursor has one plan. It is not charged where the zone has changed since it was opened.
SELECT epsilon_spent AS before FROM dp_budget \gset
BEGIN;
DECLARE opened CURSOR FOR SELECT date_trunc('quarter', at) AS quarter, count(*) FROM visits GROUP BY 1;
SET LOCAL timezone = 'Asia/Tokyo';
FETCH ALL FROM opened;
ROLLBACK;
SELECT epsilon_spent - :before AS charged FROM dp_budget;
-- Where the clock goes back across midnight, or by half an hour, no group is left out.
SET plan_cache_mode = auto;
RESET SESSION AUTHORIZATION;
CREATE TABLE regress_dpq_bi.fold AS SELECT at FROM generate_series(timestamptz '2010-11-05 UTC', '2010-11-09 UTC', '1 minute') at;
INSERT INTO regress_dpq_bi.fold SELECT at FROM generate_series(timestamptz '2024-04-06 14:20 UTC', '2024-04-06 16:20 UTC', '1 minute') at;
ALTER TABLE regress_dpq_bi.fold OWNER TO regress_dpq_bi_owner;
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
SELECT dp_protect_table('fold'), dp_set_domain('fold', 'at', '2010-11-05 UTC'::timestamptz, '2010-11-09 UTC');
SELECT dp_grant_private_access('fold', 'regress_dpq_bi_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
SET timezone = 'America/St_Johns';
SELECT at::date AS day, count(*) FROM fold WHERE at >= '2010-11-07 02:30:30+00' AND at < '2010-11-08' GROUP BY 1 ORDER BY 1;
SET timezone = 'UTC';
SELECT (at AT TIME ZONE 'America/St_Johns')::date AS day, count(*) FROM fold WHERE at >= '2010-11-07 02:30:30+00' AND at < '2010-11-08' GROUP BY 1 ORDER BY 1;
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
SELECT dp_set_domain('fold', 'at', '2024-04-06 14:20 UTC'::timestamptz, '2024-04-06 16:20 UTC');
SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
SET timezone = 'Australia/Lord_Howe';
SELECT date_trunc('hour', at) AS hour, count(*) FROM fold WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
SET timezone = 'UTC';
SELECT date_trunc('hour', at AT TIME ZONE 'Australia/Lord_Howe') AS hour, count(*) FROM fold WHERE at > '2024-04-06 14:59' AND at < '2024-04-06 15:01' GROUP BY 1 ORDER BY 1;
-- Units in one zone have a list. Those in several begin within each other.
SELECT extract(epoch FROM date_trunc('hour', at, 'Asia/Kolkata') - date_trunc('day', at, 'Asia/Kolkata'))::int AS seconds, count(*) FROM fold WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
SELECT extract(epoch FROM date_trunc('hour', at, 'Asia/Kolkata') - date_trunc('day', at, 'Asia/Tokyo'))::int AS seconds, count(*) FROM fold WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
SELECT extract(epoch FROM date_trunc('hour', at) - date_trunc('hour', at, 'Asia/Kolkata'))::int AS seconds, count(*) FROM fold WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
-- Rows without a time, and those for which the key is NULL, have a group where the key has one for them.
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
INSERT INTO fold SELECT NULL FROM generate_series(1, 50);
SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
SELECT coalesce(to_char(at, 'YYYY-MM-DD HH24'), 'none') AS hour, count(*) FROM fold GROUP BY 1 ORDER BY 1;
SELECT nullif(to_char(at, 'YYYY-MM-DD HH24'), '2024-04-06 15') AS hour, count(*) FROM fold WHERE at > '2024-01-01' GROUP BY 1 ORDER BY 1;
-- Bounds of divisions and roundings hold for each value; functions without arguments have none.
SELECT sum(floor(amount)::int / 49) BETWEEN 30900 AND 31100 AS quotients, sum((amount / 200)::int) BETWEEN 9900 AND 10100 AS rounded,
       sum(amount::numeric(10, 0)) BETWEEN 2009000 AND 2011000 AS cut FROM visits;
SELECT avg(pi()) FROM visits;
SELECT count(*) FROM visits GROUP BY floor(pi());
SELECT floor(amount / 100)::int AS hundreds, count(*) FROM visits WHERE amount < 'Infinity' GROUP BY 1 ORDER BY 1;

-- What WHERE says of times shortens their list before it is counted. The days of 100 years are too many, and so are many
-- combinations.
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
SELECT dp_set_domain('visits', 'at', '2000-01-01 UTC'::timestamptz, '2099-12-31 UTC');
SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
SELECT at::date AS day, department, count(*) FROM visits WHERE at >= '2024-03-04' AND at < '2024-03-06' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT date_trunc('hour', at) AS hour, count(*) FROM visits WHERE at BETWEEN timestamptz '2024-03-04 22:00' AND timestamptz '2024-03-04 22:00' + interval '3 hours' GROUP BY 1 ORDER BY 1;
SELECT count(*) AS days, min(day), max(day), min(n), max(n) FROM (
  SELECT DATE_TRUNC('day', at) AS day, count(*) AS n FROM visits WHERE at >= TO_TIMESTAMP('2024-03-04 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
     AND at < TO_TIMESTAMP('2024-04-04 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY 1) d;
SELECT count(*) AS groups, sum(n) AS rows FROM (
  SELECT department, extract(doy FROM at), extract(hour FROM at), count(*) AS n FROM visits WHERE extract(doy FROM at) BETWEEN 32 AND 33 GROUP BY 1, 2, 3) g;
-- In queries below, too
WITH recent AS (SELECT * FROM visits WHERE at >= '2024-03-04') SELECT r.at::date AS day, count(*) FROM recent r WHERE r.at < '2024-03-06' GROUP BY 1 ORDER BY 1;
SELECT v.department, extract(year FROM v.at) AS year, count(*) FROM (SELECT * FROM visits WHERE department = 'ENT' AND at >= '2024-01-01' AND at < '2025-01-01') v GROUP BY 1, 2;
-- The time of the query
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
CREATE TABLE regress_dpq_bi.recent AS SELECT i AS id, now() - i * interval '1 hour' AS at FROM generate_series(1, 1000) i;
SELECT dp_protect_table('recent'), dp_set_domain('recent', 'at', '1990-01-01 UTC'::timestamptz, now() + interval '3 days');
SELECT dp_grant_private_access('recent', 'regress_dpq_bi_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
SELECT count(*) AS days, min(day) = current_date - 30 AS first, max(day) = current_date - 1 AS last, min(n), max(n) FROM (
  SELECT at::date AS day, count(*) AS n FROM recent WHERE at >= CAST((NOW() + INTERVAL '-30 day') AS date) AND at < CAST(NOW() AS date) GROUP BY 1) d;

-- A value that fails, and one that no list has
SELECT 10 / (extract(hour FROM at)::int - 5) AS part, count(*) > 0 AS some FROM visits GROUP BY 1 ORDER BY 1 LIMIT 2;
-- Dimensions: a public table that is joined, beside other keys, as each tool joins it. No group is chosen privately.
SELECT floor(extract(epoch from v."at")/2592000)*2592000 AS "time", c.region AS metric, count(*) AS "value" FROM visits v JOIN city c ON c.name = v.city
  WHERE v."at" BETWEEN '2024-01-01T00:00:00Z' AND '2024-02-20T23:59:59.999Z' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT c.region AS "Region", v.department AS "Department", count(*) AS "Visits" FROM visits v LEFT JOIN city c ON c.name = v.city GROUP BY c.region, v.department ORDER BY "Visits" DESC, 1, 2 LIMIT 3;
SELECT DISTINCT c.name AS __text, c.region AS __value FROM visits v JOIN city c ON c.name = v.city ORDER BY 1;
SELECT "source"."department" AS "department", "source"."City__region" AS "City__region", "source"."pivot-grouping" AS "pivot-grouping", COUNT(*) AS "count"
  FROM (SELECT "regress_dpq_bi"."visits"."department" AS "department", ABS(0) AS "pivot-grouping", "City"."region" AS "City__region" FROM "regress_dpq_bi"."visits"
          LEFT JOIN "regress_dpq_bi"."city" AS "City" ON "regress_dpq_bi"."visits"."city" = "City"."name") AS "source"
  GROUP BY "source"."department", "source"."City__region", "source"."pivot-grouping" ORDER BY "source"."department" ASC, "source"."City__region" ASC, "source"."pivot-grouping" ASC LIMIT 1048575;
SELECT CONCAT("City"."region", ' / ', "visits"."department") AS "label", COUNT(*) AS "count" FROM "regress_dpq_bi"."visits" LEFT JOIN "regress_dpq_bi"."city" AS "City" ON "visits"."city" = "City"."name"
  WHERE "City"."region" = 'South' GROUP BY CONCAT("City"."region", ' / ', "visits"."department") ORDER BY "label" ASC;
SELECT region AS region, name AS name, department AS department, count(*) AS count FROM (SELECT v.*, c.name, c.region FROM visits v JOIN city c ON c.name = v.city) AS virtual_table
  GROUP BY region, name, department ORDER BY count DESC, 1, 2, 3 LIMIT 50000;
SELECT DISTINCT name AS name FROM (SELECT v.*, c.name, c.region FROM visits v JOIN city c ON c.name = v.city) AS virtual_table ORDER BY 1 LIMIT 1000;
SELECT DATE_TRUNC('quarter', at) AS __timestamp, region AS region, count(*) AS count FROM (SELECT v.at, v.amount, c.region FROM visits v LEFT JOIN city c ON c.name = v.city) AS virtual_table
  JOIN (SELECT region AS region__, count(*) AS mme_inner__ FROM (SELECT v.at, v.amount, c.region FROM visits v LEFT JOIN city c ON c.name = v.city) AS virtual_table GROUP BY region ORDER BY mme_inner__ DESC LIMIT 1) AS series_limit
    ON region = region__ WHERE at >= '2024-01-01' AND at < '2024-07-01' GROUP BY DATE_TRUNC('quarter', at), region ORDER BY 1 LIMIT 50000;
-- Superset and Cube filter columns without a time zone by moments, too: the groups are those of the filter, whatever the session's zone.
RESET SESSION AUTHORIZATION;
CREATE TABLE regress_dpq_bi.stamps AS SELECT timestamp '2024-01-01' + i * interval '20 minutes' AS at, date '2024-01-01' + i / 72 AS day FROM generate_series(0, 26000) i;
ALTER TABLE regress_dpq_bi.stamps OWNER TO regress_dpq_bi_owner;
SET SESSION AUTHORIZATION regress_dpq_bi_owner;
SELECT dp_protect_table('stamps'), dp_set_domain('stamps', 'at', '2024-01-01'::timestamp, '2024-12-31 23:59'), dp_set_domain('stamps', 'day', '2024-01-01'::date, '2024-12-31');
SELECT dp_grant_private_access('stamps', 'regress_dpq_bi_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_bi_analyst;
PREPARE stamps AS SELECT date_trunc('month', ("stamps".at::timestamptz AT TIME ZONE 'UTC')) "stamps__at_month", count(*) "stamps__count"
  FROM stamps AS "stamps"  WHERE ("stamps".at >= $1::timestamptz AND "stamps".at <= $2::timestamptz) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;
EXECUTE stamps('2024-03-01T00:00:00.000Z', '2024-03-31T23:59:59.999Z');
SELECT DATE_TRUNC('month', at) AS at, COUNT(*) AS count FROM stamps WHERE at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', at) ORDER BY count DESC LIMIT 10000;
SELECT count(*) AS groups, sum(count) AS rows FROM (SELECT DATE_TRUNC('hour', at) + INTERVAL '30 minutes' * FLOOR(EXTRACT(MINUTE FROM at) / 30) AS at, COUNT(*) AS count FROM stamps WHERE at >= TO_TIMESTAMP('2024-03-03 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-03-04 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY 1) q;
SELECT count(*) AS groups, sum(count) AS rows FROM (SELECT DATE_TRUNC('minute', at) AS at, COUNT(*) AS count FROM stamps WHERE at >= TO_TIMESTAMP('2024-03-03 10:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-03-03 11:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY 1) q;
SELECT DATE_TRUNC('hour', day) AS day, COUNT(*) AS count FROM stamps WHERE day >= TO_TIMESTAMP('2024-03-03 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND day < TO_TIMESTAMP('2024-03-04 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('hour', day);
SELECT count(*) AS groups, sum(count) AS rows FROM (SELECT DATE_TRUNC('day', at) AS at, COUNT(*) AS count FROM stamps WHERE at::timestamptz >= timestamptz '2024-03-03Z' AND at::timestamptz < timestamptz '2024-03-10Z' GROUP BY 1) q;
SET timezone = 'Europe/Oslo';
EXECUTE stamps('2024-03-01T00:00:00.000Z', '2024-03-31T21:59:59.999Z');
SELECT DATE_TRUNC('month', at) AS at, COUNT(*) AS count FROM stamps WHERE at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND at < TO_TIMESTAMP('2024-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', at) ORDER BY count DESC LIMIT 10000;
SET timezone = 'UTC';
RESET SESSION AUTHORIZATION;
SELECT dp_revoke_budget('regress_dpq_bi_analyst');
DROP SCHEMA regress_dpq_bi CASCADE;
DROP ROLE regress_dpq_bi_owner, regress_dpq_bi_analyst;

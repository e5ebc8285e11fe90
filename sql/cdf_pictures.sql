-- Plots of a released CDF: lines of text for a terminal, and SVG
\set SHOW_CONTEXT never
SELECT current_database() AS regression \gset
CREATE DATABASE regress_dpq_pictures TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
\connect regress_dpq_pictures
SET client_encoding = 'UTF8';
CREATE EXTENSION dpquantile;
CREATE TABLE cdfs (name text, cdf dp_cdf);
INSERT INTO cdfs VALUES
  ('continuous', '{"lower": 0, "upper": 40, "bins": 4, "method": "tree", "epsilon": 0.5, "branching": [4],
                   "level_epsilon": [0.5], "rows": 100, "cumulative": [25, 25, 75, 100]}'),
  ('discrete', '{"lower": 0, "upper": 3, "granularity": 1, "bins": 4, "method": "tree", "epsilon": 1000, "branching": [4],
                 "level_epsilon": [1000], "rows": 10000, "cumulative": [2500, 2500, 7500, 10000]}'),
  ('one bin', '{"lower": -1, "upper": 1, "bins": 1, "method": "histogram", "epsilon": 1, "branching": [1],
                "level_epsilon": [1], "rows": 7, "cumulative": [7]}'),
  ('one value', '{"lower": 0, "upper": 1, "granularity": 9, "bins": 1, "method": "tree", "epsilon": 1, "branching": [1],
                  "level_epsilon": [1], "rows": 4, "cumulative": [4]}'),
  ('no rows', '{"lower": 0, "upper": 40, "bins": 2, "method": "tree", "epsilon": 1, "branching": [2],
                "level_epsilon": [1], "rows": 0, "cumulative": [0, 0]}'),
  ('no rows, discrete', '{"lower": 0, "upper": 3, "granularity": 3, "bins": 2, "method": "tree", "epsilon": 1, "branching": [2],
                          "level_epsilon": [1], "rows": 0, "cumulative": [0, 0]}'),
  ('extreme', '{"lower": -8.9e307, "upper": 8.9e307, "bins": 2, "method": "tree", "epsilon": 1000, "branching": [2],
                "level_epsilon": [1e-9], "rows": 9007199254740992, "cumulative": [1, 9007199254740992]}'),
  ('narrow', '{"lower": 1e-300, "upper": 1.1e-300, "bins": 1, "method": "tree", "epsilon": 1e-6, "branching": [1],
               "level_epsilon": [1e-6], "rows": 1, "cumulative": [1]}'),
  ('far', '{"lower": 1000000000000000, "upper": 1000000000000010, "bins": 2, "method": "tree", "epsilon": 1, "branching": [2],
            "level_epsilon": [1], "rows": 9, "cumulative": [3, 9]}'),
  ('none', NULL);
INSERT INTO cdfs
  SELECT 'fine', format('{"lower": 0, "upper": 1, "bins": 100000, "method": "tree", "epsilon": 1, "branching": [317, 316],
                          "level_epsilon": [0.5, 0.5], "rows": 100000, "cumulative": %s}', json_agg(i))::dp_cdf
    FROM generate_series(1, 100000) i;

-- The curve within its band
SELECT dp_cdf_plot(cdf, 60, 14) FROM cdfs WHERE name = 'continuous';
-- On a value grid the curve is a staircase that rises at the values.
SELECT dp_cdf_plot(cdf, 50, 11) FROM cdfs WHERE name = 'discrete';
SELECT dp_cdf_plot(cdf, 40, 10, 0.5) FROM cdfs WHERE name = 'no rows';

-- From the smallest to the largest allowed size, every plot fits into the size and nearly fills it.
SELECT width, height, count(DISTINCT name) AS plots, max(lines) <= height AND max(widest) <= width AS fits,
       min(lines) > 0.8 * height AND min(widest) > width - 8 AS filled
  FROM cdfs, (VALUES (40, 10), (40, 200), (78, 22), (400, 10), (400, 200)) size(width, height),
       LATERAL (SELECT count(*) AS lines, max(length(line)) AS widest FROM dp_cdf_plot(cdf, width, height) line) p
 WHERE name <> 'none' GROUP BY width, height ORDER BY width, height;
SELECT count(*) BETWEEN 18 AND 22 AND max(length(line)) BETWEEN 70 AND 78 AS fits FROM cdfs, dp_cdf_plot(cdf) line
  WHERE name = 'continuous';
SELECT count(*) AS lines FROM dp_cdf_plot(NULL);
SELECT string_agg(a, '|') = string_agg(b, '|') AS defaults
  FROM cdfs, LATERAL ROWS FROM (dp_cdf_plot(cdf), dp_cdf_plot(cdf, 78, 22, 0.95)) AS p(a, b) WHERE name = 'continuous';
-- The legend shows the number of rows, epsilon and the confidence. A higher confidence makes the band wider.
SELECT (array_agg(line))[1] ~ '\m100\M.*0\.5.*\m95\s*%' AS legend FROM cdfs, dp_cdf_plot(cdf) line
  WHERE name = 'continuous';
SELECT wide > narrow AS wider
  FROM (SELECT sum(length(line) - length(replace(line, '░', ''))) FILTER (WHERE c = 0.999) AS wide,
               sum(length(line) - length(replace(line, '░', ''))) FILTER (WHERE c = 0.5) AS narrow
          FROM cdfs, unnest('{0.5,0.999}'::float8[]) c, dp_cdf_plot(cdf, 60, 20, c) line WHERE name = 'continuous') s;

-- An SVG is a complete document of the requested size. It runs nothing and fetches nothing.
CREATE FUNCTION svg_path(svg text, path text) RETURNS text LANGUAGE sql RETURN
  (xpath(path, svg::xml, '{{s,http://www.w3.org/2000/svg}}'))[1]::text;
SELECT name, svg::xml IS DOCUMENT AS document, svg_path(svg, '/s:svg/@width') AS width,
       svg_path(svg, '/s:svg/@height') AS height,
       svg ~* 'nan|inf\M|<script|href|url\(|@import' AS odd,
       svg_path(svg, 'count(//s:path[@class = "band"]) > 0') AS band,
       svg_path(svg, 'count(//s:path[@class = "curve"]) > 1') AS curve, length(svg) < 100000 AS small
  FROM cdfs, LATERAL (SELECT dp_cdf_svg(cdf) AS svg OFFSET 0) s WHERE name <> 'none' ORDER BY name;
SELECT width, height,
       bool_and(svg::xml IS DOCUMENT AND svg_path(svg, '/s:svg/@viewBox') = format('0 0 %s %s', width, height)) AS drawn
  FROM cdfs, (VALUES (200, 200), (200, 4000), (4000, 200), (4000, 4000)) size(width, height),
       LATERAL (SELECT dp_cdf_svg(cdf, width, height, name) AS svg OFFSET 0) s WHERE name <> 'none'
 GROUP BY width, height ORDER BY 1, 2;
SELECT dp_cdf_svg(cdf) = dp_cdf_svg(cdf, 720, 440, '', 0.95) AS defaults,
       dp_cdf_svg(cdf) <> dp_cdf_svg(cdf, confidence => 0.5) AS confidence
  FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(NULL) IS NULL AND dp_cdf_svg(cdf, NULL) IS NULL AND dp_cdf_svg(cdf, title => NULL) IS NULL AS "null"
  FROM cdfs WHERE name = 'continuous';
-- A title is text, never markup.
SELECT title, svg_path(svg, '/s:svg/s:title/text()') AS shown,
       svg_path(svg, 'count(//s:script) + count(//s:b)') AS elements
  FROM cdfs, unnest(ARRAY['Ages', '<script>alert(1)</script>', '</title><b>', 'a & b &amp; &#60;', '"quoted" ''too''',
                          ']]> <!-- -->', 'Größe α→ω 年齢',
                          '<?xml version="1.0"?>']) WITH ORDINALITY t(title, number),
       LATERAL (SELECT dp_cdf_svg(cdf, title => title) AS svg OFFSET 0) s
 WHERE name = 'continuous' ORDER BY number;
-- Titles with characters that XML forbids, and very long titles
SELECT bool_and(dp_cdf_svg(cdf, title => title)::xml IS DOCUMENT) AS documents
  FROM cdfs, unnest(array(SELECT chr(c) FROM generate_series(1, 55295, 61) c)
                    || array(SELECT chr(c) FROM generate_series(1, 255) c)
                    || ARRAY[E'a\tb\nc\rd', E'\x01\x08\x1f\x7f', U&'\FFFE\FFFF', U&'\+01F600', repeat('<', 1000),
                             repeat('&', 1000)]) title
 WHERE name = 'one bin';

-- Bad parameters
SELECT dp_cdf_plot(cdf, 39) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_plot(cdf, 401) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_plot(cdf, 60, 9) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_plot(cdf, 60, 201) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_plot(cdf, -2147483648, 2147483647) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_plot(cdf, 60, 20, 1) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(cdf, 199) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(cdf, 4001) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(cdf, 200, 0) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(cdf, 200, 2147483647) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(cdf, confidence => 'NaN') FROM cdfs WHERE name = 'continuous';
\set VERBOSITY sqlstate
SELECT dp_cdf_plot(cdf, 39) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_svg(cdf, 199) FROM cdfs WHERE name = 'continuous';
\set VERBOSITY default
\connect :regression
DROP DATABASE regress_dpq_pictures;

-- Plain characters replace those that the database's encoding lacks.
CREATE DATABASE regress_dpq_pictures TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C';
\connect regress_dpq_pictures
CREATE EXTENSION dpquantile;
CREATE TABLE cdfs AS
  SELECT '{"lower": 0, "upper": 40, "bins": 4, "method": "tree", "epsilon": 0.5, "branching": [4],
           "level_epsilon": [0.5], "rows": 100, "cumulative": [25, 25, 75, 100]}'::dp_cdf AS cdf;
SELECT dp_cdf_plot(cdf, 60, 14) FROM cdfs;
SELECT svg::xml IS DOCUMENT AS document, svg ~ '[^\x01-\x7e]' AS other_signs, svg ~ 'Gr(&#246;|&#xf6;|&#xF6;)' AS title
  FROM cdfs, LATERAL (SELECT dp_cdf_svg(cdf, title => 'Gr' || chr(246)) AS svg) s;
\connect :regression
DROP DATABASE regress_dpq_pictures;

-- The length of a title is limited, and the bounds may be adjacent floating-point numbers.
SELECT dp_cdf_svg('{"lower": 0, "upper": 1, "bins": 1, "method": "histogram", "epsilon": 1, "branching": [1],
                    "level_epsilon": [1], "rows": 1, "cumulative": [1]}', title => repeat('<', 1001));
WITH narrow (cdf) AS (
  VALUES ('{"lower": 1.0000000000000007, "upper": 1.0000000000000009, "bins": 1, "method": "histogram", "epsilon": 1,
           "branching": [1], "level_epsilon": [1], "rows": 1, "cumulative": [1]}'::dp_cdf))
SELECT (SELECT count(*) FROM dp_cdf_plot(cdf)) AS lines, dp_cdf_svg(cdf)::xml IS DOCUMENT AS document FROM narrow;

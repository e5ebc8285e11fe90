CREATE OR REPLACE FUNCTION dpquantile.period_start(every text, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  RETURN date_trunc(every, at, 'UTC');
COMMENT ON FUNCTION dpquantile.period_start(text, timestamptz) IS
  'every: day, week, month, quarter or year; at: a time. When the period of the calendar began in which the time lies, in UTC. Tells nothing '
  'about any data.';

CREATE OR REPLACE FUNCTION dpquantile.period_end(every text, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  RETURN (date_trunc(every, at AT TIME ZONE 'UTC') + (CASE every WHEN 'quarter' THEN '3 months' ELSE '1 ' || every END)::interval) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION dpquantile.period_end(text, timestamptz) IS
  'every: day, week, month, quarter or year; at: a time. When the next period of the calendar begins after it, in UTC. Tells nothing about any data.';

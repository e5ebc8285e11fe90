-- The time of a statement and, before and after it, the backend's peak of memory in kB. A first charge
-- loads the library.
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SELECT dp_median(x, 1, 0, 1) FROM (VALUES (0.5::float8)) v(x) \g /dev/null
SELECT 'peak', substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)');
\timing on
:statement \g /dev/null
\timing off
SELECT 'peak', substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)');

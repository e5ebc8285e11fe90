// Cube's model of the protected table. Cube writes the SQL: count(*), avg, percentile_cont, GROUP BY.
cube('Visits', {
  sql: 'SELECT * FROM visits',
  measures: {
    count: { type: 'count' },
    countError: { type: 'number', sql: 'dp_error_of(count(*))' },
    wait: { type: 'avg', sql: 'wait' },
    waitError: { type: 'number', sql: `dp_error_of(avg(${CUBE}.wait))` },
    lowerQuartile: { type: 'number', sql: `percentile_cont(0.25) WITHIN GROUP (ORDER BY ${CUBE}.wait)` },
    median: { type: 'number', sql: `percentile_cont(0.5) WITHIN GROUP (ORDER BY ${CUBE}.wait)` },
    upperQuartile: { type: 'number', sql: `percentile_cont(0.75) WITHIN GROUP (ORDER BY ${CUBE}.wait)` },
  },
  dimensions: {
    department: { sql: 'department', type: 'string' },
    at: { sql: 'at', type: 'time' },
    tenMinutes: { sql: `floor(${CUBE}.wait / 10.0) * 10`, type: 'number' },
  },
});

// What the role may still spend. This view is free.
cube('Budget', {
  sql: 'SELECT * FROM dp_budget',
  measures: {
    spent: { sql: 'epsilon_spent', type: 'max' },
    limit: { sql: 'epsilon_limit', type: 'max' },
  },
});

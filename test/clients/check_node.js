// node-pg. Its option `binary` is not checked: it gives wrong numbers of any query (docs/languages.md). Role reader has
// SELECT on the tables. Role analyst has none: it asks private queries of them as protected tables.
'use strict';
const { Client } = require('pg');

const MEDIAN = 'SELECT dp_median(age, $1, $2, $3) FROM people';
const GROUPS = {
  reader: 'SELECT age, dp_median(salary, $1, 0, 100000) FROM people GROUP BY age',
  analyst: 'SELECT age, dp_median(salary, $1, 0, 100000) FROM ages LEFT JOIN people USING (age) GROUP BY age',
};
let role;
let failed = false;

function check(passed, name) {
  failed ||= !passed;
  console.log(`${passed ? 'ok' : 'not ok'} - ${name}`);
}

function equal(got, expected, name) {
  const same = JSON.stringify(got) === JSON.stringify(expected);
  check(same, same ? name : `${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
}

const isAge = (answer) => typeof answer === 'number' && answer >= 0 && answer <= 120;

async function connect(user) {
  const client = new Client({ user });
  await client.connect();
  return client;
}

// name: of a statement that is prepared on the server
async function value(client, text, values = [], name = undefined) {
  const answer = await client.query({ text, values, name, rowMode: 'array' });
  return answer.rows[0][0];
}

async function charges() {
  const observer = await connect(role);
  const number = await value(observer, 'SELECT count(*)::int FROM dp_ledger');
  await observer.end();
  return number;
}

async function charged(number, name, action) {
  const before = await charges();
  const result = await action();
  equal((await charges()) - before, number, `${name}: charged ${number} times`);
  return result;
}

async function fails(sqlstate, number, name, client, text, values) {
  const state = await charged(number, name, () => value(client, text, values).catch((error) => error.code));
  equal(state, sqlstate, `${name}: SQLSTATE ${sqlstate}`);
}

async function checkParameters(client) {
  for (const values of [[1, 0, 120], [0.05, 0.5, 120.5], ['0.05', '0', '120'], [0.05, -1e300, 1e300]]) {
    const name = `parameters ${JSON.stringify(values)}`;
    // A parameter has the type of the integers beside it, unless it is cast.
    const query = values.every((given, i) => i === 0 || Number.isInteger(Number(given)) && Math.abs(given) < 1000)
      ? MEDIAN : 'SELECT dp_median(age, $1, $2::float8, $3::float8) FROM people';
    const answer = await charged(1, name, () => value(client, query, values));
    check(typeof answer === 'number', `${name}: the answer is a number`);
  }
  const approved = await charged(1, 'an approved function', () => value(client, 'SELECT approved_median($1)', [0.05]));
  check(isAge(approved), 'an approved function: an age');
  const salary = await value(client,
    'SELECT dp_median(salary, $1, 0, 100000, dp_options(granularity => $2)) FROM people', [0.05, 10]);
  equal(salary % 10, 0, 'an option');
  const answers = await charged(1, 'an array',
    () => value(client, 'SELECT dp_quantiles(age, $1, $2, 0, 120) FROM people', [[0, 0.25, 1], 0.05]));
  check(answers.length === 3 && answers.every(isAge), 'an array: an array of ages');
}

async function checkStatistics(client) {
  const isWhole = (answer) => /^\d+$/.test(answer);
  const count = await charged(1, 'a count', () => value(client, 'SELECT dp_count($1) FROM people', [0.05]));
  check(isWhole(count), 'a count: a string of digits');
  const values = await charged(1, 'a count of values', () => value(client, 'SELECT dp_count(salary, $1) FROM people', [0.05]));
  check(isWhole(values), 'a count of values: a string of digits');
  const mean = await charged(1, 'a mean of numeric values',
    () => value(client, 'SELECT dp_avg(salary, $1, $2, $3) FROM people', [0.05, 0, 1e5]));
  check(typeof mean === 'string' && mean > 40000, 'a mean of numeric values: a string');
  const day = await charged(1, 'dates',
    () => value(client, 'SELECT dp_median(day, $1, $2, $3) FROM visits', [0.05, '2024-01-01', new Date(2025, 0, 1)]));
  check(day instanceof Date && day.getFullYear() === 2024, 'dates: a Date');
  const counts = await charged(1, 'a histogram',
    () => value(client, 'SELECT dp_histogram(age, $1, $2) FROM people', [0.05, [0, 50, 100.5]]));
  check(counts.length === 2 && counts.every(isWhole), 'a histogram: an array of strings of digits');
  const [row] = await charged(1, 'dp_stats', async () => (await client.query(
    'SELECT (dp_stats(salary, $1, $2, $3)).* FROM people', [0.05, 0, 100000])).rows);
  check(Object.keys(row).length === 10 && isWhole(row.count) && row.avg > 40000, 'dp_stats: ten columns');
}

async function checkErrors(client) {
  await fails('22004', 0, 'NULL as epsilon', client, MEDIAN, [null, 0, 120]);
  await fails('22P02', 0, 'text that is no number', client, MEDIAN, ['much', 0, 120]);
  await fails('22023', 0, 'a negative epsilon', client, MEDIAN, [-1, 0, 120]);
  const poor = await connect('poor');
  await fails('53400', 0, 'an exhausted budget', poor, MEDIAN, [0.05, 0, 120]);
  equal(await value(poor, 'SELECT epsilon_spent FROM dp_budget'), '0', 'an exhausted budget: nothing is spent');
  await poor.end();
}

async function checkCancelled(client) {
  await client.query("SET statement_timeout = '3s'");
  // The first row takes a minute.
  await fails('57014', 1, 'a cancelled query', client,
    'SELECT dp_median(age, $1, 0, 120) FROM people, pg_sleep(60)', [0.05]);
  await client.query('RESET statement_timeout');
}

async function checkExecutions(client) {
  const answers = [];
  await charged(8, 'eight executions of a named statement', async () => {
    for (let i = 0; i < 8; i++) answers.push(await value(client, MEDIAN, [0.05, 0, 120], 'median'));
  });
  check(answers.length === 8 && answers.every(isAge), 'eight executions of a named statement: eight ages');
  await charged(1, 'a rollback', async () => {
    await client.query('BEGIN');
    await value(client, MEDIAN, [0.05, 0, 120]);
    await client.query('ROLLBACK');
  });
  // `rows` makes node-pg fetch the portal in portions.
  const groups = await charged(1, '50 groups fetched in portions', async () => (await client.query({
    text: GROUPS[role], values: [0.05], rows: 7 })).rows);
  equal(groups.map((group) => group.age), [...Array(50).keys()].map((i) => 18 + i),
    '50 groups fetched in portions: they are complete');
  equal(await value(client, 'SELECT dp_iqr(x, $1, $2) FROM few', [1, 1e-9]), null, 'an answer that is NULL');
}

async function checkDistribution(client) {
  await client.query(
    'CREATE TEMP TABLE curve AS SELECT dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)) AS cdf FROM people');
  await charged(0, 'questions to a dp_cdf', async () => {
    const text = await value(client, 'SELECT cdf FROM curve');
    const curve = JSON.parse(text);
    equal(curve.cumulative.length, 12, 'a dp_cdf is JSON');
    equal((await value(client, 'SELECT cdf::jsonb FROM curve')).cumulative, curve.cumulative, 'a dp_cdf casts to jsonb');
    equal(await value(client, 'SELECT dp_cdf_rows($1)::int', [text]), curve.rows, 'a dp_cdf as a parameter');
    const points = await client.query('SELECT point.* FROM curve, dp_cdf_points(cdf, $1) AS point', [0.9]);
    equal(points.rows.map((point) => point.x), [...Array(13).keys()].map((i) => 10 * i), 'the points of a dp_cdf');
    check(isAge(await value(client, 'SELECT dp_cdf_quantile(cdf, $1) FROM curve', [0.5])), 'a quantile of a dp_cdf');
  });
}

// An error of 100 has a probability below 1e-20.
async function checkChosen(client, condition, parameter, rows, name = undefined) {
  const count = await charged(1, condition,
    () => value(client, `SELECT dp_count($1) FROM people WHERE ${condition}`, [0.5, parameter], name));
  check(Math.abs(count - rows) < 100, `${condition}: about ${rows} rows, not ${count}`);
}

async function checkFilters(client) {
  await checkChosen(client, 'id <= $2', 1000, 1000);
  await checkChosen(client, 'salary <= $2', 33250.5, 950);
  await checkChosen(client, 'salary / 1000 <= $2', '33.25', 950);
  await checkChosen(client, 'department = $2', 'Support', 1000);
  await checkChosen(client, 'born <= $2', new Date(1962, 8, 27), 1000);
  await checkChosen(client, 'seen < $2', new Date(2024, 1, 11, 17), 1000);
  await checkChosen(client, 'id = ANY($2)', [...Array(500).keys()], 499);
  await checkChosen(client, 'department = ANY($2)', ['Support', 'Legal'], 1000);
  for (let i = 0; i < 12; i++) await checkChosen(client, 'id <= $2', 300 * i, 300 * i, 'chosen');
}

async function checkProbes(client) {
  const groups = GROUPS.analyst.replace('$1', '0.05');
  const people = ['id', 'age', 'salary', 'department', 'born', 'seen'];
  const probes = {
    'SELECT * FROM people WHERE 1=0': people, 'SELECT * FROM people LIMIT 0': people,
    [`SELECT * FROM (${groups}) AS t LIMIT 0`]: ['age', 'dp_median'],
  };
  for (const [query, columns] of Object.entries(probes)) {
    const answer = await charged(0, query, () => client.query(query));
    equal(answer.fields.map((field) => field.name), columns, `${query}: the columns`);
    equal(answer.rows, [], `${query}: no rows`);
  }
  const answer = await charged(1, 'LIMIT 1000', () => client.query(`SELECT * FROM (${groups}) AS t LIMIT 1000`));
  equal(answer.rows.length, 50, 'LIMIT 1000: 50 groups');
  await fails('42501', 0, 'rows', client, 'SELECT * FROM people');
  const detail = await client.query('SELECT * FROM people').catch((error) => error.detail);
  equal(detail, 'Only differentially private queries are allowed on it: the query shows rows.', 'rows: why not');
}

const COMMON = [checkParameters, checkStatistics, checkErrors, checkExecutions, checkDistribution];
const PARTS = { reader: [...COMMON, checkCancelled], analyst: [...COMMON, checkFilters, checkProbes] };

async function main() {
  console.log(`client node-pg ${require('pg/package.json').version}`);
  for (role of Object.keys(PARTS)) {
    console.log(`role ${role}`);
    const client = await connect(role);
    for (const part of PARTS[role]) await part(client);
    await client.end();
  }
  process.exitCode = failed ? 1 : 0;
}

main();

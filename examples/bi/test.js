// Looks at the page in headless Chromium as a viewer does, and checks what its role was charged. The server of the clinic is new.
const { spawn } = require('child_process');
const { once } = require('events');
const { createInterface } = require('readline');
const { Client } = require('pg');
const { chromium } = require('playwright-core');
const lookAtAdminer = require('./adminer.test.js');

let passed = 0;
let failed = 0;
function check(name, got, expected) {
  const good = JSON.stringify(got) === JSON.stringify(expected);
  if (good) passed += 1; else failed += 1;
  console.log(good ? `ok - ${name}` : `not ok - ${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
}

const analyst = new Client({ host: process.env.CUBEJS_DB_HOST, port: process.env.CUBEJS_DB_PORT, user: 'dashboard', database: 'clinic' });
const one = async (text, values) => Object.values((await analyst.query(text, values)).rows[0])[0];
const spent = async () => Number(await one('SELECT epsilon_spent FROM dp_budget'));

async function startServer() {
  const server = spawn(process.execPath, ['server.js'], { env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => server.kill());
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith('http://')) return { server, address: line };
  }
  throw new Error('the server of the page did not start');
}

async function stopServer({ server }) {
  server.kill();
  await once(server, 'exit');
}

// What the page shows: the number of marks in each chart, or the error.
async function look(browser, { address }, picture) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(address);
  await page.waitForSelector('body[data-state]', { timeout: 120000 });
  if (picture) await page.screenshot({ path: picture, fullPage: true });
  const seen = await page.evaluate(() => ({
    state: document.body.dataset.state,
    error: document.querySelector('.error')?.textContent,
    marks: ['months', 'departments', 'distribution'].map((id) => document.querySelectorAll(`#${id} rect`).length),
    figures: ['visits', 'wait', 'spent'].map((id) => document.getElementById(id).textContent),
    queries: QUERIES,
  }));
  await page.close();
  return seen;
}

// The SQL that Cube writes for a query of the page
async function writtenSql({ address }, query) {
  const answer = await (await fetch(`${address}/cubejs-api/v1/sql?query=${encodeURIComponent(JSON.stringify(query))}`)).json();
  const [text, parameters] = answer.sql.sql;
  check('Cube writes no parameters', parameters, []);
  return text;
}

async function explainedPrice(text) {
  return Number(await one("SELECT coalesce(sum(epsilon) FILTER (WHERE charged_for = 'the query'), 0) FROM dp_explain($1)", [text]));
}

async function main() {
  await analyst.connect();
  await analyst.query("SET TIME ZONE 'UTC'");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'] });

  let server = await startServer();
  check('nothing is spent before', await spent(), 0);
  const first = await look(browser, server, process.env.PICTURE);
  check('the page shows all charts', [first.state, first.error], ['shown', undefined]);
  check('a bar for each month, a band for each department, a bar for each ten minutes', first.marks, [12, 5, 25]);
  const price = await spent();
  let explained = 0;
  for (const query of Object.values(first.queries).filter(({ measures }) => measures[0].startsWith('Visits'))) {
    explained += await explainedPrice(await writtenSql(server, query));
  }
  check('the charges are what dp_explain says', price, explained);
  check('they are not nothing', price > 0, true);
  check('the page shows what is spent', first.figures[2], `${price} of 30`);
  await stopServer(server);

  // A new server of Cube has no answers in its own cache.
  server = await startServer();
  const second = await look(browser, server);
  check('a refresh shows the same numbers', second.figures, first.figures);
  check('a refresh costs nothing', await spent(), price);
  check('the ledger tells that answers were shown again',
    await one('SELECT count(*) > 0 AND bool_and(reuses > 0) FROM dp_ledger'), true);

  const refusal = await analyst.query('SELECT * FROM visits LIMIT 1000').catch((error) => error.message);
  check('a preview of rows is refused', refusal, 'permission denied for table visits');
  check('a refusal costs nothing', await spent(), price);
  await stopServer(server);

  await lookAtAdminer({ browser, check, spent, explainedPrice });
  await browser.close();
  await analyst.end();
}

function end(error) {
  if (error) {
    console.error(error);
    failed += 1;
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

setTimeout(() => end(new Error('something had not answered after five minutes')), 300000);
main().then(() => end(), end);

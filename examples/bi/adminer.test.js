// Looks at Adminer as a viewer does: the list of tables, a table, and a grouped selection of the protected table.
const { spawn } = require('child_process');
const { createServer } = require('net');

const freePort = () => new Promise((resolve, reject) => {
  const server = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

async function startAdminer() {
  const address = `127.0.0.1:${await freePort()}`;
  const server = spawn('php', ['-S', address, '/etc/adminer/conf.php'], { stdio: ['ignore', 'ignore', 'pipe'] });
  process.on('exit', () => server.kill());
  for await (const line of server.stderr) {
    if (String(line).includes('started')) break;
  }
  server.stderr.resume();
  return { server, address: `http://${address}` };
}

async function logIn(page, address) {
  await page.goto(`${address}/?pgsql=`);
  await page.fill('[name="auth[server]"]', process.env.CUBEJS_DB_HOST);
  await page.fill('[name="auth[username]"]', 'dashboard');
  await page.fill('[name="auth[password]"]', 'any');
  await page.fill('[name="auth[db]"]', 'clinic');
  await page.click('input[type="submit"]');
  // The script of the page asks for the sizes, and puts all in at once, with their sums. It removes the link of a size that is NULL.
  await page.waitForSelector('#sum-Data_length:not(:empty)');
}

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent.trim()));
const errors = (page) => texts(page, '.error:not(.jsonly):not(.hidden)');

// Counts and means by department, chosen as in the form of the page "Select data"
async function selectGroups(page) {
  const url = new URL(page.url().replace(/&(select|table)=.*$/, ''));
  const columns = [['', 'department'], ['count', ''], ['avg', 'wait']];
  url.searchParams.set('select', 'visits');
  columns.forEach(([fun, col], i) => {
    url.searchParams.set(`columns[${i}][fun]`, fun);
    url.searchParams.set(`columns[${i}][col]`, col);
  });
  url.searchParams.set('order[0]', 'department');
  url.searchParams.set('limit', '50');
  await page.goto(url.href);
  return {
    errors: await errors(page),
    sql: (await texts(page, 'code.jush-pgsql'))[0],
    rows: await texts(page, '#table tbody tr'),
  };
}

module.exports = async function lookAtAdminer({ browser, check, spent, explainedPrice }) {
  const adminer = await startAdminer();
  const page = await browser.newPage({ viewport: { width: 1280, height: 700 } });
  await logIn(page, adminer.address);
  check('Adminer lists the protected table', (await texts(page, '#tables a.structure')).includes('visits'), true);
  const listed = await texts(page, ['Data_length', 'Index_length', 'Rows'].map((column) => `[id="${column}-visits"]`).join());
  check('it has no size, and -1 rows', listed, ['-1']);
  check('the list shows no error', await errors(page), []);

  await page.click('#tables a.structure:text-is("visits")');
  check('Adminer shows the columns', await texts(page, 'table tbody th'), ['id', 'patient', 'department', 'at', 'wait', 'PRIMARY']);
  check('without an error', await errors(page), []);

  const before = await spent();
  const first = await selectGroups(page);
  check('Adminer shows each department', [first.errors, first.rows.length], [[], 5]);
  check('the charge is what dp_explain says', (await spent()) - before, await explainedPrice(first.sql));
  if (process.env.ADMINER_PICTURE) await page.screenshot({ path: process.env.ADMINER_PICTURE });
  const paid = await spent();
  check('a refresh shows the same numbers', (await selectGroups(page)).rows, first.rows);
  await page.goto(page.url().replace(/&(select|columns).*$/, '&select=visits'));
  check('rows are refused', (await errors(page)).map((text) => text.split('DETAIL:')[0].trim()), ['ERROR:  permission denied for table visits']);
  check('a refresh and a refusal cost nothing', await spent(), paid);
  await page.close();
  adminer.server.kill();
};

'use strict';

// The queries of the page, as Cube's API takes them.
const QUERIES = {
  totals: { measures: ['Visits.count', 'Visits.countError', 'Visits.wait', 'Visits.waitError'] },
  months: { measures: ['Visits.count', 'Visits.countError'], timeDimensions: [{ dimension: 'Visits.at', granularity: 'month' }] },
  departments: { measures: ['Visits.lowerQuartile', 'Visits.median', 'Visits.upperQuartile'], dimensions: ['Visits.department'],
    order: { 'Visits.department': 'asc' } },
  distribution: { measures: ['Visits.count', 'Visits.countError'], dimensions: ['Visits.tenMinutes'], order: { 'Visits.tenMinutes': 'asc' } },
  budget: { measures: ['Budget.spent', 'Budget.limit'] },
};

// The rows of an answer. Cube says "Continue wait" while the query runs.
async function ask(name) {
  const address = `cubejs-api/v1/load?query=${encodeURIComponent(JSON.stringify(QUERIES[name]))}`;
  for (;;) {
    const answer = await (await fetch(address)).json();
    if (answer.error !== 'Continue wait') {
      if (answer.error) throw new Error(answer.error);
      return answer.data;
    }
  }
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const withError = (value, error) => `${number.format(value)} ± ${number.format(error)}`;

function draw(svg, kind, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  svg.append(element);
}

// Ticks at 1, 2 or 5 times a power of ten, about four of them.
function ticksTo(largest) {
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const ticks = [];
  for (let tick = 0; tick < largest + step; tick += step) ticks.push(tick);
  return ticks;
}

const LEFT = 48;
const TOP = 12;
const BOTTOM = 228;

// The vertical axis with its ticks. Returns the height of a value.
function drawAxis(svg, width, largest) {
  const ticks = ticksTo(largest);
  const top = ticks[ticks.length - 1];
  const height = (value) => BOTTOM - ((BOTTOM - TOP) * Math.max(0, value)) / top;
  for (const tick of ticks) {
    draw(svg, 'line', { class: 'axis', x1: LEFT, x2: width, y1: height(tick), y2: height(tick) });
    draw(svg, 'text', { x: LEFT - 8, y: height(tick) + 4, 'text-anchor': 'end' }, number.format(tick));
  }
  return height;
}

// Bars with whiskers. `bars`: { label, value, error }.
function drawBars(svg, bars) {
  const width = svg.viewBox.baseVal.width;
  const height = drawAxis(svg, width, Math.max(...bars.map((bar) => bar.value + bar.error)));
  const step = (width - LEFT) / bars.length;
  bars.forEach(({ label, value, error }, i) => {
    const middle = LEFT + (i + 0.5) * step;
    draw(svg, 'rect', { class: 'bar', x: middle - step * 0.38, width: step * 0.76, y: height(value), height: BOTTOM - height(value) });
    const [high, low] = [height(value + error), height(value - error)];
    draw(svg, 'path', { class: 'whisker', d: `M${middle - 4} ${high}h8m-4 0V${low}m-4 0h8` });
    draw(svg, 'text', { x: middle, y: BOTTOM + 20, 'text-anchor': 'middle' }, label);
  });
}

// Bands with a line. `boxes`: { label, low, middle, high }.
function drawBands(svg, boxes) {
  const width = svg.viewBox.baseVal.width;
  const height = drawAxis(svg, width, Math.max(...boxes.map((box) => box.high)));
  const step = (width - LEFT) / boxes.length;
  boxes.forEach(({ label, low, middle, high }, i) => {
    const x = LEFT + (i + 0.5) * step;
    const [x1, x2] = [x - step * 0.3, x + step * 0.3];
    draw(svg, 'rect', { class: 'band', x: x1, width: x2 - x1, y: height(high), height: height(low) - height(high) });
    draw(svg, 'line', { class: 'median', x1, x2, y1: height(middle), y2: height(middle) });
    draw(svg, 'text', { class: 'value', x, y: height(middle) - 6, 'text-anchor': 'middle' }, number.format(middle));
    draw(svg, 'text', { x, y: BOTTOM + 20, 'text-anchor': 'middle' }, label);
  });
}

const show = (id, text) => { document.getElementById(id).textContent = text; };
const bar = (label) => (row) => ({ label: label(row), value: Number(row['Visits.count']), error: Number(row['Visits.countError']) });

async function showTotals() {
  const [row] = await ask('totals');
  show('visits', withError(row['Visits.count'], row['Visits.countError']));
  show('wait', withError(row['Visits.wait'], row['Visits.waitError']));
}

async function showMonths() {
  const month = (row) => new Date(`${row['Visits.at.month']}Z`).toLocaleString('en', { month: 'short', timeZone: 'UTC' });
  drawBars(document.getElementById('months'), (await ask('months')).map(bar(month)));
}

async function showDepartments() {
  drawBands(document.getElementById('departments'), (await ask('departments')).map((row) => ({
    label: row['Visits.department'], low: Number(row['Visits.lowerQuartile']), middle: Number(row['Visits.median']),
    high: Number(row['Visits.upperQuartile']) })));
}

async function showDistribution() {
  const rows = await ask('distribution');
  drawBars(document.getElementById('distribution'), rows.map(bar((row) => number.format(row['Visits.tenMinutes']))));
}

async function showBudget() {
  const [row] = await ask('budget');
  show('spent', `${number.format(row['Budget.spent'])} of ${number.format(row['Budget.limit'])}`);
}

// The budget last, when all others have been charged.
async function showAll() {
  await Promise.all([showTotals(), showMonths(), showDepartments(), showDistribution()]);
  await showBudget();
  document.body.dataset.state = 'shown';
}

showAll().catch((error) => {
  const line = document.createElement('p');
  line.className = 'error';
  line.textContent = error.message;
  document.querySelector('header').append(line);
  document.body.dataset.state = 'failed';
});

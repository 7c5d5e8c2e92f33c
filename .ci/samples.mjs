#!/usr/bin/env node
// Writes the sample files of the app's examples, always the same bytes: `node .ci/samples.mjs [folder]`.
//   annual-report.pdf, orders.xlsx   a report and the workbook it was written from; one number differs
//   notes.json                       200 notes, by path: { "notes/2026-01-02-….md": text }
//   rides.csv                        a year of rentals and weather
// Everything in them is made up. A PDF and a workbook are small enough to be written by hand, with a real layer of text and real
// cells, so this needs no package.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pdfOf, zip } from './made-files.mjs';
import { random } from './random.mjs';

const folder = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../www/app/samples/files'));

// A workbook and the report about it.

const REGIONS = ['North', 'South', 'Coast'];
const PRODUCTS = [['Touring kayak', 1290], ['Sea kayak', 1840], ['Packraft', 760], ['Paddle', 95]];
const SEASON = [0.5, 0.55, 0.9, 1.2, 1.6, 1.9, 2, 1.7, 1.1, 0.7, 0.55, 0.8];

function orders() {
  const next = random(2025);
  const rows = [];
  for (let month = 1; month <= 12; month += 1) {
    for (const region of REGIONS) {
      for (const [product, price] of PRODUCTS) {
        const units = Math.max(1, Math.round((product === 'Paddle' ? 40 : 9) * SEASON[month - 1] * (0.7 + next() * 0.6)));
        rows.push({ date: `2025-${String(month).padStart(2, '0')}-${String(1 + Math.floor(next() * 28)).padStart(2, '0')}`, quarter: `Q${Math.ceil(month / 3)}`, region, product, units, price, revenue: units * price });
      }
    }
  }
  return rows.sort((a, b) => a.date.localeCompare(b.date));
}

const total = (rows, key) => {
  const sums = new Map();
  for (const row of rows) sums.set(row[key], (sums.get(row[key]) ?? 0) + row.revenue);
  return sums;
};

const money = (amount) => amount.toLocaleString('en');

/** The digits of a number with two neighbours swapped, as happens in typing. */
function swapped(amount) {
  const digits = [...String(amount)];
  const at = digits.findIndex((digit, place) => place > 0 && place + 1 < digits.length && digit !== digits[place + 1]);
  [digits[at], digits[at + 1]] = [digits[at + 1], digits[at]];
  return Number(digits.join(''));
}

const escaped = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const column = (at) => String.fromCharCode(65 + at);

function sheet(rows) {
  const cell = (value, at, row) => (typeof value === 'number'
    ? `<c r="${column(at)}${row}"><v>${value}</v></c>`
    : `<c r="${column(at)}${row}" t="inlineStr"><is><t>${escaped(value)}</t></is></c>`);
  const lines = rows.map((row, at) => `<row r="${at + 1}">${row.map((value, place) => cell(value, place, at + 1)).join('')}</row>`);
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${lines.join('')}</sheetData></worksheet>`;
}

function workbook(sheets) {
  const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const each = (line) => sheets.map(([name], at) => line(name, at + 1)).join('');
  return zip([
    ['[Content_Types].xml', `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/>${each((_, at) => `<Override PartName="/xl/worksheets/sheet${at}.xml" ContentType="${type}.worksheet+xml"/>`)}</Types>`],
    ['_rels/.rels', `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`],
    ['xl/workbook.xml', `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${each((name, at) => `<sheet name="${name}" sheetId="${at}" r:id="rId${at}"/>`)}</sheets></workbook>`],
    ['xl/_rels/workbook.xml.rels', `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each((_, at) => `<Relationship Id="rId${at}" Type="${office}/worksheet" Target="worksheets/sheet${at}.xml"/>`)}</Relationships>`],
    ...sheets.map(([, rows], at) => [`xl/worksheets/sheet${at + 1}.xml`, sheet(rows)]),
  ]);
}

/** A PDF of pages of lines: `[size, x, y, text, bold]`, from the bottom left, in points. */
function pdf(pages) {
  const objects = [];
  const add = (text) => objects.push(text);
  const at = (n) => `${n} 0 R`;
  const first = 5;
  add('<< /Type /Catalog /Pages 2 0 R /Lang (en) >>');
  add(`<< /Type /Pages /Kids [${pages.map((_, n) => at(first + 2 * n)).join(' ')}] /Count ${pages.length} >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>');
  pages.forEach((lines, n) => {
    const shown = lines.map(([size, x, y, text, bold]) => `BT /${bold ? 'F2' : 'F1'} ${size} Tf ${x} ${y} Td (${text.replaceAll(/[()\\]/g, '\\$&')}) Tj ET`).join('\n');
    add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents ${at(first + 2 * n + 1)} >>`);
    add(`<< /Length ${shown.length} >>\nstream\n${shown}\nendstream`);
  });
  return pdfOf(objects);
}

/** Lines of text below a title. */
function page(title, lines) {
  const out = [[20, 64, 760, title, true]];
  let y = 724;
  for (const line of lines) {
    if (Array.isArray(line)) line.forEach((text, place) => out.push([11, 64 + place * 130, y, text, line.bold]));
    else if (line) out.push([11, 64, y, line]);
    y -= 18;
  }
  return out;
}

function report(rows) {
  const quarters = [...total(rows, 'quarter')].sort();
  const regions = [...total(rows, 'region')];
  // The mistake of the report: one number with two digits swapped, and a total that follows from it.
  const printed = quarters.map(([quarter, amount]) => [quarter, quarter === 'Q3' ? swapped(amount) : amount]);
  const sum = printed.reduce((all, [, amount]) => all + amount, 0);
  const share = ([, amount]) => `${((amount / rows.reduce((all, row) => all + row.revenue, 0)) * 100).toFixed(1)} %`;
  const bold = (...cells) => Object.assign(cells, { bold: true });
  return pdf([
    page('Fjordline Kayaks', ['Annual report 2025', '', 'A sample document of Turnwise. The company and every number are made up.', '', 'Contents', 'Results by quarter: page 2', 'Regions: page 3', 'Outlook: page 4']),
    page('Results by quarter', ['Revenue of all regions, in euros.', '', bold('Quarter', 'Revenue'), ...printed.map(([quarter, amount]) => [quarter, money(amount)]), bold('Total', money(sum)), '', 'The third quarter was the strongest, as in each of the last four years.', 'Revenue is taken from the order book (orders.xlsx) on the day of the order.']),
    page('Regions', ['Share of revenue by region.', '', bold('Region', 'Revenue', 'Share'), ...regions.map((region) => [region[0], money(region[1]), share(region)]), '', 'The regions differ by less than three percent.']),
    page('Outlook', ['We expect the first half of 2026 to be as strong as that of 2025.', 'A second workshop opens in April. Prices stay as they are.']),
  ]);
}

// 200 notes.

const PEOPLE = ['Ada', 'Bruno', 'Chioma', 'Dmitri', 'Elif', 'Farah', 'Goran'];
const TOPICS = ['Workshop', 'Deliveries', 'Website', 'Hiring', 'Prices', 'Trade fair', 'Insurance', 'Photos', 'Returns', 'Paddle stock'];
const ACTIONS = ['call the supplier', 'send the offer', 'update the price list', 'book the hall', 'answer the club', 'check the contract', 'order packaging', 'write the minutes', 'compare two carriers', 'plan the photo day'];
const REMARKS = ['We agreed quickly.', 'Opinions differed, and we come back to it.', 'Short meeting: half of us were on the road.', 'Numbers follow by mail.', 'This was the longest item.', 'Nothing new since last time.'];

function notes() {
  const next = random(200);
  const pick = (list) => list[Math.floor(next() * next() * list.length)];
  const files = {};
  const day = new Date(Date.UTC(2026, 0, 2));
  while (Object.keys(files).length < 200) {
    const date = day.toISOString().slice(0, 10);
    const topic = TOPICS[Math.floor(next() * TOPICS.length)];
    const actions = Array.from({ length: Math.floor(next() * 4) }, () => {
      const done = next() < 0.55;
      return `- [${done ? 'x' : ' '}] ${pick(PEOPLE)}: ${ACTIONS[Math.floor(next() * ACTIONS.length)]}`;
    });
    const present = PEOPLE.filter(() => next() < 0.6);
    files[`notes/${date}-${topic.toLowerCase().replaceAll(' ', '-')}.md`] = [
      `# ${topic}, ${date}`, '', `Present: ${(present.length ? present : PEOPLE.slice(0, 2)).join(', ')}`, '', REMARKS[Math.floor(next() * REMARKS.length)], '', ...(actions.length ? ['## Actions', '', ...actions, ''] : []),
    ].join('\n');
    day.setUTCDate(day.getUTCDate() + (next() < 0.7 ? 1 : 2));
  }
  return files;
}

// A data set.

function rides() {
  const next = random(365);
  const lines = ['date,weekday,temperature_c,rain_mm,rides'];
  const names = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  for (let day = 0; day < 365; day += 1) {
    const date = new Date(Date.UTC(2025, 0, 1 + day));
    const temperature = Math.round((10.5 - 9.5 * Math.cos((2 * Math.PI * (day - 15)) / 365) + (next() - 0.5) * 7) * 10) / 10;
    const rain = next() < 0.38 ? Math.round(next() * next() * 220) / 10 : 0;
    const weekday = date.getUTCDay();
    const commute = weekday === 0 || weekday === 6 ? 0.72 : 1;
    const count = Math.round((260 + 31 * Math.max(temperature, 0)) * commute * (1 - Math.min(0.62, rain * 0.045)) * (0.9 + next() * 0.2));
    lines.push(`${date.toISOString().slice(0, 10)},${names[weekday]},${temperature},${rain},${count}`);
  }
  return `${lines.join('\n')}\n`;
}

const rows = orders();
const head = ['date', 'quarter', 'region', 'product', 'units', 'price', 'revenue'];
mkdirSync(folder, { recursive: true });
const write = (name, content) => writeFileSync(path.join(folder, name), content);
write('annual-report.pdf', report(rows));
write('orders.xlsx', workbook([
  ['Orders', [head, ...rows.map((row) => head.map((key) => row[key]))]],
  ['Products', [['product', 'price'], ...PRODUCTS]],
]));
write('notes.json', `${JSON.stringify(notes(), null, 1)}\n`);
write('rides.csv', rides());

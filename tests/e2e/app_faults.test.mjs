// Faults that users hit in the app, one test each: what must be visible, scroll, be kept or be confirmed.
// LOOKS=all runs each test in every size and theme, for the screenshots in shots/.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { PHONE, answered, beginExample, drop, runTask, showTurns, startPage, storedToTheEnd, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { reply, withScript } from './lib/script-server.mjs';
import { root, withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });
const WIDE = { width: 1366, height: 768 };
const LOOKS = { 'wide-light': [WIDE, 'light'], 'wide-dark': [WIDE, 'dark'], 'phone-light': [PHONE, 'light'], 'phone-dark': [PHONE, 'dark'] };

const contextOf = (look, more = {}) => ({ viewport: LOOKS[look][0], colorScheme: LOOKS[look][1], reducedMotion: 'reduce', ...(look.startsWith('phone') ? { hasTouch: true } : {}), ...more });

/** Takes a screenshot, runs axe, and checks that the page itself does not scroll sideways. */
const camera = (page, number, look) => async (what = '') => {
  await page.screenshot({ path: path.join(shots, `fault-${number}${what && `-${what}`}-${look}.png`) });
  assert.deepEqual(await audit(page), [], `axe, ${what}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}: the page scrolls sideways`);
};

/** Runs a test in the app with a scripted model, in each look. */
function fault(number, name, { looks = ['wide-light'], steps, settings = {}, expect = [] }, body) {
  for (const look of process.env.LOOKS === 'all' ? Object.keys(LOOKS) : looks) {
    test(`${number}. ${name}: ${look}`, { skip: looks.length > 1 ? leftIn(look) : undefined }, () => withSite((site) => withScript(steps(), (baseUrl) => {
      const stored = { provider: 'openai', base_url: baseUrl, model: 'scripted', ...settings };
      const origins = [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value: JSON.stringify(stored) }] }];
      return withPage(site.app, { reach: [baseUrl], expect, context: contextOf(look, { storageState: { cookies: [], origins } }) }, async (page) => {
        await task(page).waitFor();
        await body(page, camera(page, number, look), look);
      });
    })));
  }
}

/** Runs a test in the app without a scripted model. */
function plain(number, name, looks, body) {
  for (const look of process.env.LOOKS === 'all' ? Object.keys(LOOKS) : looks) {
    test(`${number}. ${name}: ${look}`, { skip: looks.length > 1 ? leftIn(look) : undefined }, () => withApp({ context: contextOf(look) }, (page, site) => body(page, camera(page, number, look), site)));
  }
}

const task = (page) => page.getByRole('textbox', { name: 'Task' });
const start = async (page, text) => {
  await task(page).fill(text);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
};
const ended = (page) => page.getByRole('region', { name: 'How it ended' }).last().waitFor({ timeout: 60000 }).then(() => showTurns(page));
/** Waits until the transcript is scrolled to its end. */
const atEnd = (page) => page.waitForFunction(() => { const it = document.querySelector('#transcript'); return it.scrollHeight - it.scrollTop - it.clientHeight < 2; });
/** Expands the panel if it is collapsed. */
const details = async (page) => {
  const more = page.getByRole('button', { name: 'Details' });
  if (await more.isVisible()) await more.click();
};
/** The chunks of a text as a model streams it, without the end of the stream. */
const begun = (text) => reply({ text }).slice(0, -3);

async function withFiles(files, body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    return await body(Object.entries(files).map(([name, bytes]) => {
      writeFileSync(path.join(folder, name), bytes);
      return path.join(folder, name);
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const LINE = `const everything = [${Array.from({ length: 80 }, (_, i) => `"value number ${i}"`).join(', ')}];`;
const CELLS = Array.from({ length: 16 }, (_, i) => `column_number_${i}`);
const WIDE_TEXT = [
  'A paragraph of an answer must keep the ends of its lines, however wide the code is that follows it, since that is what a person came to read.',
  `\`\`\`js\n${LINE}\n\`\`\``,
  `| ${CELLS.join(' | ')} |\n|${CELLS.map(() => '---').join('|')}|\n| ${CELLS.map((cell) => `${cell}_value`).join(' | ')} |`,
  `1. In a list:\n\n   \`\`\`\n   ${LINE}\n   \`\`\``,
  'After it comes a last paragraph.',
].join('\n\n');

/** The elements that are wider than the window, and which blocks scroll inside. */
const widths = (page, within) => page.evaluate((selector) => {
  const host = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
  const over = [...host.querySelectorAll('*')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('pre, .table'));
  const scrolls = [...host.querySelectorAll('pre, .table')].map((one) => [one.localName, one.scrollWidth > one.clientWidth, getComputedStyle(one).overflowX]);
  const scroller = host.closest('.scroll, .dialog-body') ?? host;
  return { over: over.map((one) => one.outerHTML.slice(0, 60)), scrolls, sideways: scroller.scrollWidth > scroller.clientWidth };
}, within);
const SCROLLED = { over: [], scrolls: [['pre', true, 'auto'], ['div', true, 'auto'], ['pre', true, 'auto']], sideways: false };

fault(1, 'a wide line of code and a wide table scroll inside their own block', { looks: ['wide-light', 'phone-light'], steps: () => [{ text: WIDE_TEXT }] }, async (page, shoot) => {
  await runTask(page, 'Show me something wide');
  await page.locator('.turn .prose pre').first().waitFor();
  assert.deepEqual(await widths(page, '.turn'), SCROLLED);
  await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
  await shoot();
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByText(/^Step \d+ of /).waitFor();
  await page.getByRole('button', { name: 'Last step' }).click();
  const run = page.locator('.stage .tab[data-of="run"]');
  if (await run.isVisible()) await run.click();
  await page.locator('.stage .turn .prose pre').first().waitFor();
  assert.deepEqual(await widths(page, '.stage .turn'), SCROLLED);
  await shoot('viewer');
});

fault(1, 'the same in a report', { looks: ['phone-light'], settings: { preset: 'strict', report_format: 'markdown' }, steps: () => [{ calls: [{ id: 'a', name: 'final_report', args: { format: 'markdown', content: WIDE_TEXT } }] }] }, async (page, shoot) => {
  await runTask(page, 'Report something wide');
  await page.locator('.report .prose pre').first().waitFor();
  assert.deepEqual(await widths(page, '.report'), SCROLLED);
  await shoot('report');
});

fault(1, 'the same in a sub-agent and in a synthesis', { looks: ['phone-light'], settings: { tools_off: 'spawn_subagents', max_turns: '1' }, steps: () => [
  { calls: [{ id: 'a', name: 'spawn_subagents', args: { tasks: [{ task: 'Show me something wide' }] } }] }, { text: WIDE_TEXT }, { text: WIDE_TEXT },
] }, async (page, shoot) => {
  await runTask(page, 'Let another one show me something wide');
  await page.locator('.box .prose pre').first().waitFor();
  assert.deepEqual(await widths(page, '.box'), SCROLLED);
  await page.locator('.lane > summary').click();
  await page.locator('.lane-body .prose pre').first().waitFor();
  assert.deepEqual(await widths(page, '.lane-body'), SCROLLED);
  await shoot('lane');
});

const STORY = Array.from({ length: 12 }, (_, i) => `Paragraph ${i + 1} of the story, with **bold words** in it.`).join('\n\n');
const partial = (page) => page.locator('.partial').last();

fault(2, 'what was streamed before Stop stays as it is, marked, also when the run is opened again', { looks: ['wide-light', 'wide-dark', 'phone-light'], steps: () => [
  { chunks: [begun(STORY).join('')], hold: true },
] }, async (page, shoot) => {
  await start(page, 'Tell me a story');
  await page.getByText('Paragraph 12 of the story').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Wrap up' }).count(), 0, 'nothing is there to conclude from');
  const ink = await page.locator('.turn .prose p').first().evaluate((it) => getComputedStyle(it).color);
  await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
  await ended(page);
  const check = async () => {
    await partial(page).locator('strong').nth(11).waitFor();
    assert.match(await partial(page).textContent(), /Paragraph 1 of[^]*Paragraph 12 of/);
    assert.equal(await partial(page).locator('p').first().evaluate((it) => getComputedStyle(it).color), ink, 'not dimmed');
    assert.equal(await page.locator('.failed .what').innerText(), 'Stopped here');
    assert.equal(await page.locator('.failed .slug').textContent(), 'cancelled');
    assert.equal(await page.getByText('Paragraph 12 of the story').count(), 1, 'once');
    assert.doesNotMatch(await page.locator('#transcript').innerText(), /cancelled\.|Incomplete/);
  };
  await check();
  await partial(page).scrollIntoViewIfNeeded();
  await shoot('stop');
  await storedToTheEnd(page, 1);
  await startPage(page);
  const rail = page.locator('.rail .run', { hasText: 'Tell me a story' });
  await rail.waitFor({ state: 'attached' });
  if (!(await rail.isVisible())) await page.getByRole('button', { name: 'Runs', exact: true }).click();
  await rail.click();
  await ended(page);
  await check();
});

const PARAGRAPH = 'It was found in the archive that the ship had left the harbour two days before the storm, with eleven hands and a cargo of salt. ';
const LONG = Array.from({ length: 60 }, (_, i) => `${i + 1}. ${PARAGRAPH.repeat(4)}`).join('\n\n');

fault(6, 'a fast long answer is followed to its end, and who reads above is offered the way down', {
  steps: () => {
    const all = begun(LONG);
    const chunks = Array.from({ length: 150 }, (_, i) => all.slice(Math.floor(i * all.length / 150), Math.floor((i + 1) * all.length / 150)).join(''));
    return [{ chunks: [...chunks, ...reply({}).slice(-3)], pace: 10 }, { chunks: [begun(LONG.slice(0, 6000)).join('')], hold: true }];
  },
}, async (page, shoot) => {
  const latest = page.getByRole('button', { name: 'Jump to latest' });
  await start(page, 'Tell me the whole story');
  await answered(page);
  await page.waitForFunction(() => document.querySelectorAll('.turn .prose li').length === 60);
  await atEnd(page);
  await latest.waitFor({ state: 'detached' });
  await start(page, 'Once more');
  // Everything streamed before the stop is visible.
  await page.waitForFunction((least) => [...document.querySelectorAll('.page')].at(1)?.textContent.length > least, 5500);
  await atEnd(page);
  await page.locator('#transcript').hover();
  await page.mouse.wheel(0, -1500);
  await latest.waitFor();
  await shoot();
  const before = await page.locator('#transcript').evaluate((it) => it.scrollTop);
  await page.getByRole('button', { name: 'Stop' }).first().click();
  await answered(page);
  assert.equal(await page.locator('#transcript').evaluate((it) => it.scrollTop), before, 'who reads is left alone');
  await latest.click();
  await atEnd(page);
  await latest.waitFor({ state: 'detached' });
});

const queued = (page) => page.getByRole('group', { name: 'Queued message' });

let answer;
fault(7, 'a message written while a run goes on is queued, can be changed, and is sent when the run ends', { looks: ['wide-light', 'phone-light'], steps: () => [
  { text: 'The first answer.', until: new Promise((resolve) => { answer = resolve; }) },
  { text: 'The second answer.', check: ({ messages }) => assert.equal(messages.at(-1).content, 'And what comes after, please?') },
] }, async (page, shoot) => {
  await start(page, 'A first task');
  await page.getByRole('button', { name: 'Stop' }).first().waitFor();
  await task(page).fill('And what comes after?');
  await task(page).press('Enter');
  await queued(page).getByText('Sends when this run ends').waitFor();
  assert.equal(await task(page).inputValue(), '');
  await shoot();
  await queued(page).getByRole('button', { name: 'Edit' }).click();
  assert.equal(await queued(page).count(), 0);
  assert.equal(await task(page).inputValue(), 'And what comes after?');
  await task(page).fill('And what comes after, please?');
  await page.getByRole('button', { name: 'Queue' }).click();
  await queued(page).waitFor();
  answer();
  await page.getByText('The second answer.').waitFor();
  assert.equal(await queued(page).count(), 0);
  assert.equal(await page.locator('.page').nth(1).locator('.task').innerText(), 'And what comes after, please?');
});

fault(7, 'a queued message that is removed is not sent, and that of a stopped run is text again', { steps: () => [
  { chunks: [begun('Some words.').join('')], hold: true },
] }, async (page, shoot) => {
  await start(page, 'A first task');
  await page.getByText('Some words').waitFor();
  for (const text of ['Never mind', 'What did you find?']) {
    await task(page).fill(text);
    await task(page).press('Enter');
    if (text === 'Never mind') await queued(page).getByRole('button', { name: 'Remove' }).click();
  }
  assert.equal(await queued(page).locator('.text').innerText(), 'What did you find?');
  await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
  await ended(page);
  // A moment after the end is drawn.
  await page.waitForFunction(() => document.querySelector('#task').value === 'What did you find?');
  assert.equal(await queued(page).count(), 0);
  await page.getByText('so your message was not sent').waitFor();
  await shoot('back');
});

fault(8, 'a report in plain text shows no markup, and keeps its lines', { looks: ['wide-light', 'phone-light'], settings: { preset: 'strict', report_format: 'text' }, steps: () => [
  { calls: [{ id: 'a', name: 'final_report', args: { format: 'text', content: '# Light to the moon\n\nIt needs **1.28 seconds**.\nDistance: 384,400 km\nSpeed:    299,792 km/s\n\n- one way\n- `c` is exact\n\n<b>not markup</b>' } }] },
] }, async (page, shoot) => {
  await runTask(page, 'How long does light need?');
  const report = page.locator('.report');
  await report.locator('strong').waitFor();
  const text = await report.innerText();
  for (const raw of ['**', '# ', '- one', '`']) assert.ok(!text.includes(raw), `${raw} in ${text}`);
  assert.match(text, /1\.28 seconds\.\nDistance: 384,400 km\nSpeed: {4}299,792 km\/s\n/, 'the lines stay');
  assert.match(text, /<b>not markup<\/b>/);
  const [box, words] = await Promise.all([report, report.locator('strong')].map((one) => one.boundingBox()));
  assert.ok(words.y > box.y && words.y < box.y + box.height && words.x > box.x, 'inside the report');
  await shoot();
});

const HEBREW = 'שלום עולם, זה משפט ארוך דיו כדי שיראו באיזה צד הוא מתחיל.';
const MIXED = `## ${HEBREW}\n\n${HEBREW}\n\nAn English paragraph between them.\n\n- ${HEBREW}\n- an English item\n\n> ${HEBREW}\n\n| עיר | אוכלוסייה |\n|---|---|\n| חיפה | 285,316 |\n\n\`\`\`\nlet שלום = 1;\n\`\`\`\n\n\`code\` ${HEBREW}`;

fault(9, 'each block has the direction of its own text', { looks: ['wide-light', 'phone-light'], steps: () => [{ text: MIXED }] }, async (page, shoot) => {
  await task(page).fill(HEBREW);
  assert.equal(await task(page).evaluate((it) => getComputedStyle(it).direction), 'rtl');
  await runTask(page, HEBREW);
  await page.locator('.turn .prose table').waitFor();
  const direction = (selector) => page.locator(selector).evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
  assert.deepEqual(await direction('.page .task'), ['rtl']);
  assert.deepEqual(await direction('.turn .part > h2'), ['rtl']);
  assert.deepEqual(await direction('.turn .part > p'), ['rtl', 'ltr', 'rtl']);
  assert.deepEqual(await direction('.turn .prose li'), ['rtl', 'ltr']);
  assert.deepEqual(await direction('.turn .prose blockquote'), ['rtl']);
  assert.deepEqual(await direction('.turn .prose table'), ['rtl']);
  assert.deepEqual(await direction('.turn .prose td'), ['rtl', 'ltr']);
  assert.deepEqual(await direction('.turn .prose :is(pre, code)'), ['ltr', 'ltr', 'ltr']);
  // The position of the text, not only its styles.
  const right = await page.locator('.turn .part > p').first().evaluate((it) => { const range = document.createRange(); range.selectNodeContents(it); const [first] = range.getClientRects(); return it.getBoundingClientRect().right - first.right; });
  assert.ok(right < 2, `${right} px from the right edge`);
  await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
  await shoot();
});

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==', 'base64');
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180"><rect width="320" height="180" rx="16" fill="#5b3fb8"/><circle cx="160" cy="90" r="60" fill="#f0b357"/><script>document.title = "pwned"</script></svg>';
const PDF = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF';

plain(10, 'files are shown as what they are', ['wide-light', 'phone-light'], (page, shoot) => withFiles({
  'chart.svg': SVG, 'dot.png': PNG, 'paper.pdf': Buffer.from(PDF, 'latin1'), 'data.bin': Buffer.from([0, 1, 2, 3, 255, 254, 0, 0]), 'pack.zip': Buffer.from('PK\x03\x04\x14\x00\x00\x00', 'latin1'), 'notes.txt': 'Grüße\n',
}, async (paths) => {
  await drop(page, paths);
  await page.getByText(/^Added 6 files, .* for the agent\. pack\.zip was not opened: it is damaged\. It was added as it is\.$/).waitFor();
  await page.getByRole('button', { name: /^Files \d/ }).first().click();
  const open = async (name) => {
    const back = page.getByRole('button', { name: 'All files' });
    if (await back.isVisible()) await back.click();
    await page.getByRole('dialog', { name: 'Files' }).getByRole('button', { name, exact: true }).click();
  };
  await open('chart.svg');
  const picture = page.getByRole('img', { name: 'chart.svg' });
  await picture.waitFor();
  assert.match(await picture.getAttribute('src'), /^blob:/);
  assert.equal(await picture.evaluate((it) => it.decode().then(() => it.naturalWidth)), 320);
  assert.equal(await page.title(), 'Turnwise');
  assert.equal(await page.locator('.drawer .preview').count(), 0);
  await shoot();
  await open('dot.png');
  await page.getByText('PNG picture').waitFor();
  assert.equal(await page.getByRole('img', { name: 'dot.png' }).evaluate((it) => it.decode().then(() => it.naturalWidth)), 2);
  await open('paper.pdf');
  await page.getByText('PDF document').waitFor();
  const link = page.getByRole('link', { name: 'Open' });
  assert.match(await link.getAttribute('href'), /^blob:/);
  assert.doesNotMatch(await page.getByRole('dialog', { name: 'Files' }).innerText(), /%PDF|endobj/);
  await shoot('pdf');
  await open('data.bin');
  await page.getByText(/^Binary file/).waitFor();
  await page.getByText(/8 B\b/).first().waitFor();
  await open('pack.zip');
  await page.getByText('ZIP archive').waitFor();
  await shoot('zip');
  await open('notes.txt');
  await page.getByText('Grüße').waitFor();
}));

plain(11, 'what is dragged over the page meets a panel of its own', ['wide-light', 'phone-light'], (page, shoot) => withFiles({ 'a.txt': 'a' }, async (paths) => {
  const session = await page.context().newCDPSession(page);
  const drag = (type) => session.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data: { items: [], files: paths, dragOperationsMask: 1 } });
  await drag('dragEnter');
  await drag('dragOver');
  const veil = page.locator('.drop');
  await veil.waitFor();
  // The page stays in view behind it, and its own words are on a ground of their own.
  const box = await veil.evaluate((it) => it.getBoundingClientRect().toJSON());
  const ground = await page.locator('.drop-panel').evaluate((it) => getComputedStyle(it).backgroundColor);
  assert.match(ground, /^rgb\(/, `${ground} lets text through`);
  assert.deepEqual([box.x, box.y, box.width, box.height], [0, 0, page.viewportSize().width, page.viewportSize().height]);
  const [panel, field] = await Promise.all(['.drop-panel', '.composer .field'].map((one) => page.locator(one).boundingBox()));
  assert.ok(panel.y + panel.height <= field.y || field.y + field.height <= panel.y, 'the panel and the task box do not overlap');
  await page.screenshot({ path: path.join(shots, `fault-11-${Object.entries(LOOKS).find(([, [size]]) => size.width === page.viewportSize().width)[0].split('-')[0]}-${await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'))}.png`) });
  await drag('drop');
  await page.getByText(/^Added .* for the agent/).waitFor();
  await veil.waitFor({ state: 'detached' });
  await shoot('after');
}));

plain(12, 'a plan wider than its column says that it goes on, and the keyboard reaches all of it', ['wide-light'], async (page, shoot) => {
  await beginExample(page, /A plan with seven agents/);
  await page.getByRole('button', { name: /^Step 7 ?, / }).waitFor();
  const graph = page.locator('.graph.wide');
  if (!(await graph.isVisible())) return shoot();
  await page.getByRole('region', { name: 'Result of the plan' }).waitFor({ timeout: 90000 });
  const last = page.getByRole('button', { name: /^Step 7 ?, / });
  const whole = async () => {
    const [step, box] = await Promise.all([last, graph].map((one) => one.boundingBox()));
    return step.x >= box.x && step.x + step.width <= box.x + box.width;
  };
  assert.ok(await whole(), 'the seven steps of the example fit');
  assert.equal(await graph.getAttribute('data-more'), null);
  await shoot('fits');
  await page.setViewportSize({ width: 1180, height: 768 });
  await page.locator('.graph.wide[data-more]').waitFor();
  assert.equal(await graph.getAttribute('data-more'), 'after');
  const later = page.getByRole('button', { name: 'Show later steps' });
  await later.waitFor();
  await shoot();
  assert.ok(!await whole());
  await later.click();
  await page.waitForFunction(() => document.querySelector('.graph.wide').dataset.more === 'before');
  await shoot('end');
  assert.ok(await whole(), 'the last step is seen whole');
  const left = () => graph.evaluate((it) => it.scrollLeft);
  const before = await left();
  await graph.focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction((at) => document.querySelector('.graph.wide').scrollLeft < at, before);
  return undefined;
});

/** Serves a page of another origin, from which the app can be opened; it records the messages that it receives. */
async function withForeign(body) {
  const html = '<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,"><button>Open</button><script>onmessage = ({ data }) => { (window.heard ??= []).push(data?.turnwise); };</script>';
  const server = http.createServer((request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html));
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Waits until the app has received the record another three times. */
const heardAgain = (app) => app.evaluate(() => new Promise((resolve) => {
  let left = 3;
  addEventListener('message', () => { if ((left -= 1) === 0) requestAnimationFrame(() => resolve()); });
}));

async function handOver(page, url, text) {
  const popup = page.waitForEvent('popup');
  await page.evaluate(([app, record]) => {
    const there = window.open(app, '_blank');
    setInterval(() => there.postMessage({ turnwise: 'trajectory', text: record }, '*'), 200);
  }, [url, text]);
  return popup;
}

for (const look of process.env.LOOKS === 'all' ? Object.keys(LOOKS) : ['wide-light', 'phone-light']) {
  test(`B7. a record from a page of another origin is opened only when the person agrees: ${look}`, { skip: leftIn(look) }, () => withSite((site) => withForeign((elsewhere) => withPage(elsewhere, { reach: [site.url], context: contextOf(look) }, async (page) => {
    const from = new URL(elsewhere).origin;
    // If this text were parsed, it would be rejected with a message.
    const refused = await handOver(page, site.app, '{"format":"turnwise","version":1,');
    const ask = refused.getByRole('alertdialog');
    await ask.getByText(`${from} wants to open a record here`).waitFor();
    await camera(refused, 'B7', look)();
    await heardAgain(refused);
    assert.equal(await refused.getByText(/was not opened|is not a trajectory/).count(), 0, 'nothing is parsed before the answer');
    await page.waitForFunction(() => window.heard?.includes('asked'));
    assert.ok(await page.evaluate(() => !window.heard.includes('taken')));
    await ask.getByRole('button', { name: 'Not now' }).click();
    await ask.waitFor({ state: 'detached' });
    await page.waitForFunction(() => window.heard.includes('refused'));
    await heardAgain(refused);
    assert.equal(await ask.count(), 0, 'it is asked once');
    await refused.close();

    const opened = await handOver(page, site.app, '{"format":"turnwise","version":1,');
    await opened.getByRole('alertdialog').getByRole('button', { name: 'Open' }).click();
    await opened.getByText(`The file from ${from} is not a trajectory.`).waitFor();
  }))));
}

// The docs agent on real documentation sites, each built by its own generator (tests/sites) and served below /docs/ as on a
// plain static host: what its search finds, where its links lead, and, on seven of the sites, whole conversations through the
// tag. KINDS names the sites.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { serve } from '../../.ci/static.mjs';
import { build } from '../sites/build.mjs';
import { BASE, FALLBACK, KINDS } from '../sites/kinds.mjs';
import { withContext } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';

const WANTED = (process.env.KINDS || 'mdbook mkdocs').split(/\s+/).filter(Boolean);
const ENOUGH = 90;
/**
 * What a site's own visitors' questions must reach at least: a share of the sections among the first three, by keywords, and of
 * the questions without an answer. A site has few of each, so these only notice what breaks; ALL_ENOUGH judges all sites together.
 */
const KIND_ENOUGH = { found: 0.65, told: 0.6 };
const ALL_ENOUGH = { found: 0.9, told: 0.87, doubted: 0.02 };
const ALL_KINDS = 16;
/** The generators' keyboard shortcuts. */
const KEYS = 's/?+-fpnkTS';
/** Generators whose routers handle clicks on any link. */
const ROUTED = ['vitepress'];
const SHOWN = 12;
const WHOLE_MS = 240000;
const THINKS_MS = 4000;
const FOLLOW_MS = 8000;
const CHROMES = /^(serviceworker|chrome-extension):/;

const read = (folder, kind) => JSON.parse(readFileSync(path.join(root, 'tests/sites', folder, `${kind}.json`), 'utf8'));
/** The page on which visitors begin, where it is not the root. */
const FRONT = { rustdoc: 'tokio/index.html', docusaurus: 'api/Client/', starlight: 'commands/npm/', pdoc: 'boltons.html', antora: 'git/2.39/git.html' };

/** Runs `body(tab, url)` in a fresh context on the site's front page. Requests to other origins are blocked. */
async function withSite(kind, reach, body) {
  const { site } = await build(kind);
  assert.ok(existsSync(path.join(dist, 'turnwise')), `${dist} is not built: make dist`);
  const server = await serve(site, { mounts: { [`${BASE}turnwise/`]: path.join(dist, 'turnwise'), [BASE]: site }, fallback: FALLBACK[kind] ? { [BASE]: path.join(site, FALLBACK[kind]) } : {} });
  const url = new URL(BASE, server.url).href;
  try {
    return await withContext({ serviceWorkers: 'block' }, async (context) => {
      const allowed = [server.url, ...reach].map((one) => new URL(one).origin);
      await context.route('**', (route) => {
        const { protocol, origin } = new URL(route.request().url());
        return /^(data|blob):$/.test(protocol) || allowed.includes(origin) ? route.continue() : route.abort('blockedbyclient');
      });
      const tab = await context.newPage();
      const faults = [];
      tab.on('pageerror', (error) => { if (/turnwise/.test(error.stack) && !CHROMES.test(error.stack)) faults.push(`${error}`); });
      // A page that a browser renders is read as it is shown.
      await tab.goto(new URL(FRONT[kind] ?? '', url).href, { waitUntil: 'networkidle' });
      const result = await body(tab, url);
      assert.deepEqual(faults, [], 'the tag threw');
      return result;
    });
  } finally {
    await server.close();
  }
}

/** Opens the site in the page, waits until all of it is read, and searches for each question. */
async function searchAll([questions, module, most]) {
  const loading = performance.now();
  const { default: init, DocsSite } = await import(module);
  await init();
  const began = performance.now();
  const site = await DocsSite.open(location.href, { html: document.documentElement.outerHTML });
  const ready = performance.now() - began;
  while (!site.info.complete && performance.now() - began < most) await new Promise((resolve) => { setTimeout(resolve, 50); });
  const whole = performance.now() - began;
  const answers = [];
  const searching = performance.now();
  for (const question of questions) answers.push(await site.search(question, { limit: 6 }));
  const each = (performance.now() - searching) / questions.length;
  const info = { ...site.info };
  site.free();
  const again = performance.now();
  const cached = await DocsSite.open(location.href, { html: document.documentElement.outerHTML });
  const found = { again: performance.now() - again, cached: cached.info.cached };
  cached.free();
  return { info, loaded: began - loading, ready, whole, each, ...found, answers };
}

/** Returns a page's address within the site, normalized, and the anchor. */
function place(address, url) {
  const { pathname, hash } = new URL(address, url);
  // docsify's pages are fragments: #/page?id=anchor
  const [route, id = ''] = hash.startsWith('#/') ? hash.slice(2).split('?id=') : [undefined, hash.slice(1)];
  const page = decodeURIComponent(route ?? pathname).replace(BASE, '').replace(/(^|\/)index(\.html)?$/, '').replace(/\.html$/, '').replace(/\/$/, '');
  return { page, anchor: decodeURIComponent(id) };
}

function judge(question, hits, url) {
  const wanted = place(question.url, url);
  const found = hits.map((hit) => place(hit.url, url));
  const onPage = found.filter(({ page }) => page === wanted.page);
  const anchors = [wanted.anchor, ...(question.also ?? []), ...(question.top ? [''] : [])];
  return { section: onPage.some(({ anchor }) => anchors.includes(anchor)), page: onPage.length > 0, first: found.length > 0 && found[0].page === wanted.page && anchors.includes(found[0].anchor) };
}

/** Counts what a set of visitors' questions found in one way of asking. `answers`: one `DocsFound` per question. */
function tally(questions, answers, url) {
  const counts = { answered: 0, found: 0, two: 0, both: 0, absent: 0, told: 0, doubted: 0, missed: [] };
  for (const [at, { url: wanted, also = [], absent, both }] of questions.entries()) {
    const { hits, match } = answers[at];
    const places = hits.map((hit) => place(hit.url, url));
    const weak = match !== 'strong';
    if (absent) {
      counts.absent += 1;
      counts.told += Number(weak);
      continue;
    }
    counts.doubted += Number(weak);
    if (both) {
      counts.two += 1;
      counts.both += Number(both.every((one) => places.some(({ page }) => page === place(one, url).page)));
      continue;
    }
    counts.answered += 1;
    const right = [wanted, ...also].map((one) => place(one, url));
    const hit = places.slice(0, 3).findIndex(({ page, anchor }) => right.some((one) => one.page === page && one.anchor === anchor));
    if (hit >= 0) counts.found += 1;
    else counts.missed.push(at);
  }
  return counts;
}

const sum = (all) => all.reduce((total, one) => Object.fromEntries(Object.entries(one).map(([name, value]) => [name, Array.isArray(value) ? [] : (total[name] ?? 0) + value])), {});
const share = (part, of) => `${part} of ${of}`;
/** The counts of all sites that were asked: [{ kind, info, ready, tuned: { keywords, sentence }, held }]. */
const asked = [];

for (const kind of WANTED) {
  assert.ok(kind in KINDS, `there is no site ${kind}; there are ${Object.keys(KINDS).join(' ')}`);

  test(`${kind}: visitors find the right section, and are told what is not there`, async (t) => {
    const sets = ['tuned', 'held'].map((set) => [set, read(`visitors/${set}`, kind)]);
    const queries = sets.flatMap(([, questions]) => questions.flatMap(({ keywords, sentence }) => [keywords, sentence]));
    const { url, results, followed } = await withSite(kind, [], async (tab, at) => {
      const found = await tab.evaluate(searchAll, [queries, `${BASE}turnwise/turnwise.js`, WHOLE_MS]);
      return { url: at, results: found, followed: await follow(tab, three(found.answers)) };
    });
    const { info } = results;
    const row = { kind, info, ready: results.ready };
    let next = 0;
    for (const [set, questions] of sets) {
      const answers = questions.map(() => results.answers.slice(next, next += 2));
      row[set] = Object.fromEntries(['keywords', 'sentence'].map((way, at) => {
        const counts = tally(questions, answers.map((pair) => pair[at]), url);
        t.diagnostic(`${kind.padEnd(10)} ${set} by ${way}: section in three ${share(counts.found, counts.answered)}, both pages in six ${share(counts.both, counts.two)}, not there and told ${share(counts.told, counts.absent)}, doubted ${counts.doubted}`);
        // What the held questions miss is not shown, so that nobody tunes the search for them.
        if (set === 'tuned' && way === 'keywords') for (const missed of counts.missed) t.diagnostic(`missed "${questions[missed][way]}": wanted ${questions[missed].url}`);
        return [way, counts];
      }));
    }
    asked.push(row);
    t.diagnostic(`${kind.padEnd(10)} ${info.kind}, ${info.pages} pages, ${info.sections} sections, ready ${Math.round(results.ready)} ms, whole ${Math.round(results.whole)} ms, a second time ${Math.round(results.again)} ms${results.cached ? ' (cached)' : ''}`);
    assert.ok(info.complete && !info.shell, JSON.stringify(info));
    const { found, answered, told, absent } = sum([row.tuned.keywords, row.held.keywords]);
    assert.ok(found >= KIND_ENOUGH.found * answered, `${share(found, answered)} found`);
    assert.ok(told >= KIND_ENOUGH.told * absent, `${share(told, absent)} told`);
    assert.deepEqual(followed.filter(({ there }) => !there), [], 'links that lead elsewhere');
    assert.equal(followed.length, 3);
  });

  if (!existsSync(path.join(root, 'tests/sites/questions', `${kind}.json`))) continue;

  test(`${kind}: the right section is among the first three for ${ENOUGH} of a hundred questions`, async (t) => {
    const questions = read('questions', kind);
    assert.equal(questions.length, 100);
    const { results, url } = await withSite(kind, [], async (tab, at) => ({
      url: at,
      results: await tab.evaluate(searchAll, [questions.map(({ question }) => question), `${BASE}turnwise/turnwise.js`, WHOLE_MS]),
    }));
    const hitsOf = (at) => results.answers[at].hits.slice(0, 3);
    const judged = questions.map((question, at) => ({ ...question, hits: hitsOf(at), ...judge(question, hitsOf(at), url) }));
    const count = (list, what) => list.filter((one) => one[what]).length;
    const { info } = results;
    t.diagnostic(`${kind.padEnd(10)} section ${count(judged, 'section')} %  page ${count(judged, 'page')} %  first ${count(judged, 'first')} %  `
      + `package ${Math.round(results.loaded)} ms  a search ${results.each.toFixed(1)} ms`);
    const shapes = [...new Set(questions.map(({ shape }) => shape))].map((shape) => {
      const those = judged.filter((one) => one.shape === shape);
      return `${shape} ${count(those, 'section')}/${those.length}`;
    });
    t.diagnostic(`${kind.padEnd(10)} ${shapes.join('  ')}`);
    for (const { question, url: wanted, hits } of judged.filter(({ section }) => !section).slice(0, SHOWN)) {
      t.diagnostic(`missed "${question}": wanted ${wanted}, got ${hits.map((hit) => hit.url.replace(url, '')).join('  ') || 'nothing'}`);
    }
    assert.ok(info.complete, 'the site is not read to its end');
    assert.ok(info.pages >= 30, `${info.pages} pages`);
    assert.ok(count(judged, 'section') >= ENOUGH, `${count(judged, 'section')} of 100`);
  });

  test(`${kind}: five questions through the tag are answered with links that resolve`, async (t) => {
    const answers = read('answers', kind);
    assert.equal(answers.length, 5);
    await converse(kind, answers, t);
  });
}

test('all sites together: visitors\' questions', { skip: WANTED.length < ALL_KINDS && `KINDS names ${WANTED.length} sites` }, (t) => {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  t.diagnostic(line(['site', 'pages', 'sections', 'ready', 'keywords', 'sentence', 'told by keywords', 'by sentence']));
  const both = (row, way) => sum([row.tuned[way], row.held[way]]);
  for (const row of asked) {
    const [keywords, sentence] = ['keywords', 'sentence'].map((way) => both(row, way));
    t.diagnostic(line([row.kind, row.info.pages, row.info.sections, `${Math.round(row.ready)} ms`, share(keywords.found, keywords.answered), share(sentence.found, sentence.answered), share(keywords.told, keywords.absent), share(sentence.told, sentence.absent)]));
  }
  for (const set of ['tuned', 'held']) {
    for (const way of ['keywords', 'sentence']) {
      const counts = sum(asked.map((row) => row[set][way]));
      const real = counts.answered + counts.two;
      t.diagnostic(`${set} by ${way}: section in three ${share(counts.found, counts.answered)}, both pages in six ${share(counts.both, counts.two)}, not there and told ${share(counts.told, counts.absent)}, doubted ${share(counts.doubted, real)}`);
    }
  }
  const counts = sum(asked.map((row) => both(row, 'keywords')));
  assert.equal(asked.length, WANTED.length);
  assert.ok(counts.found >= ALL_ENOUGH.found * counts.answered, `${share(counts.found, counts.answered)} found`);
  assert.ok(counts.told >= ALL_ENOUGH.told * counts.absent, `${share(counts.told, counts.absent)} told`);
  assert.ok(counts.doubted <= ALL_ENOUGH.doubted * (counts.answered + counts.two), `${counts.doubted} doubted`);
});

/**
 * The addresses of three sections on different pages, of those that were found. Not of anchors that begin with a digit: Docute
 * cannot scroll to its own.
 */
function three(answers) {
  const pages = new Map();
  for (const { hits } of answers) for (const { url } of hits) if (/#./.test(url) && !/#\d/.test(url)) pages.set(url.split(/\?id=|#(?!\/)/)[0], url);
  const all = [...pages.values()];
  return [0, 1, 2].map((at) => all[Math.floor((at * (all.length - 1)) / 2)]);
}

/** Opens each address as a visitor does and says whether its section is in view: [{ address, there }]. */
async function follow(tab, addresses) {
  const followed = [];
  for (const address of addresses) {
    await tab.goto('about:blank');
    await tab.goto(address);
    const inView = (address) => {
      const { hash } = new URL(address);
      const anchor = decodeURIComponent(hash.startsWith('#/') ? hash.split('?id=')[1] : hash.slice(1));
      const target = document.getElementById(anchor) ?? document.getElementsByName(anchor)[0];
      const { top, bottom } = target?.getBoundingClientRect() ?? {};
      return bottom >= -1 && top <= innerHeight;
    };
    const there = await tab.waitForFunction(inView, address, { timeout: FOLLOW_MS }).then(() => true, () => false);
    followed.push({ address, there });
  }
  return followed;
}

const told = ({ messages }) => {
  const last = messages.at(-1);
  assert.equal(last.role, 'tool', `the last message is the tool's: ${JSON.stringify(last).slice(0, 200)}`);
  return last.content;
};

/**
 * Adds the steps of a model that knows nothing: it searches, reads the section that fits, and quotes it. If the site is
 * still being read, it pauses and searches again, a few times at most; that adds to `steps`.
 */
function addSteps(steps, { question, query, url: wanted, phrase }, answered) {
  let link;
  let again = 3;
  steps.push(
    {
      check({ messages, tools }) {
        assert.equal(messages.at(-1).role, 'user');
        for (const name of ['search_docs', 'read_page', 'list_pages']) assert.ok(tools.some((tool) => tool.function.name === name), `${name} is offered`);
      },
      calls: [{ id: 'search', name: 'search_docs', args: { query } }],
    },
    {
      check(request) {
        const found = told(request).match(/https?:\/\/[^\s)\]>"]+/g) ?? [];
        const right = place(wanted, new URL(BASE, found[0] ?? 'http://localhost/'));
        link = found.slice(0, 3).find((one) => { const { page, anchor } = place(one, one); return page === right.page && anchor === right.anchor; });
        if (!link && again > 0 && /still reading/i.test(told(request))) {
          again -= 1;
          this.calls = [{ id: `search${again}`, name: 'search_docs', args: { query } }];
          steps.splice(steps.indexOf(this) + 1, 0, { ...this, delay: THINKS_MS });
          return;
        }
        assert.ok(link, `"${question}": ${wanted} is among the first three of ${found.join(' ')}`);
        this.calls = [{ id: 'read', name: 'read_page', args: { url: link } }];
      },
    },
    {
      check(request) {
        const text = told(request).replace(/\s+/g, ' ');
        assert.ok(text.includes(phrase), `"${question}": "${phrase}" stands in what was read: ${text.slice(0, 400)}`);
        this.text = `The docs say: *${phrase}*. See [that section](${link}).`;
        answered.push(link);
      },
    },
  );
}

/** Holds one conversation of five questions, through the tag that the site's generator put into the page. */
async function converse(kind, answers, t) {
  const links = [];
  const steps = [];
  for (const answer of answers) addSteps(steps, answer, links);
  await withScript(steps, (baseUrl) => withSite(kind, [baseUrl], async (tab, url) => {
    const agent = tab.locator('turnwise-agent');
    assert.equal(await agent.count(), 1, 'the page has the tag once');
    await agent.evaluate((element, set) => { for (const [name, value] of Object.entries(set)) element.setAttribute(name, value); },
      { provider: 'openai', 'base-url': baseUrl, model: 'scripted', docs: 'auto' });
    const began = performance.now();
    await agent.getByRole('button').first().click();
    const input = agent.getByRole('textbox');
    for (const [at, { question, phrase }] of answers.entries()) {
      await input.fill(question);
      await input.press('Enter');
      const run = agent.locator('article').nth(at);
      await run.locator('.foot :is(.ending, .problem)').waitFor({ timeout: WHOLE_MS });
      if (at === 0) t.diagnostic(`${kind.padEnd(10)} the first answer is there ${Math.round(performance.now() - began)} ms after opening`);
      const answer = run.locator('[part=answer]:not(:empty)').last();
      assert.ok(await answer.count(), `"${question}" has an answer: ${await run.textContent()}`);
      assert.ok((await answer.textContent()).includes(phrase), `"${question}": ${await run.textContent()}`);
      const href = await answer.locator('a').first().evaluate((element) => element.href);
      assert.deepEqual(place(href, url), place(links[at], url));
      assert.deepEqual(await tab.evaluate(resolve, href), { status: 200, anchor: true }, href);
    }
    // No shortcut of the generator captures what is typed, or leads to another page.
    const here = tab.url();
    await input.pressSequentially(KEYS);
    for (const key of ['ArrowRight', 'ArrowLeft']) await input.press(key);
    await tab.evaluate(() => new Promise((resolve) => { requestIdleCallback(resolve); }));
    assert.equal(tab.url(), here);
    assert.equal(await input.inputValue(), KEYS);
    // A link in an answer leads there, without a page load where the generator's router avoids one.
    await tab.evaluate(() => { window.stays = true; });
    await agent.locator('article [part=answer] a').last().click();
    await tab.waitForURL(links.at(-1));
    if (ROUTED.includes(kind)) assert.equal(await tab.evaluate(() => window.stays), true, 'the page was loaded anew');
    await agent.locator('article').nth(4).waitFor();
  }));
}

/** Checks where a link leads: the status of its page, and whether its anchor exists. */
async function resolve(address) {
  const response = await fetch(address);
  const parsed = new DOMParser().parseFromString(await response.text(), 'text/html');
  const anchor = decodeURIComponent(new URL(address).hash.slice(1));
  return { status: response.status, anchor: !anchor || Boolean(parsed.getElementById(anchor) ?? parsed.getElementsByName(anchor)[0]) };
}

// node tests/sites/visitors.mjs [KIND…]: checks the visitors' questions (visitors/tuned and visitors/held): their form, how
// many there are, that no sentence occurs twice, and, where the site is built, that the sections exist that they name.
// They were written by reading the pages, before the search was tuned for them. The search may be tuned on `tuned`; `held` only
// judges it. A question: { sentence, keywords } and one of: { url, also? }, where `url` answers it, and so does each of `also`;
// { absent: true }, the site does not answer it; { both }, the answer takes both pages. `keywords`: what a model would search for.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { OUT } from './build.mjs';

const COUNTS = { tuned: { answered: 13, absent: 5, both: 3 }, held: { answered: 12, absent: 5, both: 2 } };
const NAMED = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#x27;': "'" };
const here = path.join(import.meta.dirname, 'visitors');
const decode = (text) => text.replace(/&[#\w]+;/g, (entity) => NAMED[entity] ?? entity);

/**
 * The anchors that docsify (`joined`) and Docute make of a Markdown page's headings when they show it. Docute gives the first
 * heading none.
 */
function slugs(markdown, joined) {
  const found = [];
  for (const [, level, text] of markdown.replace(/^ *(```|~~~)[^]*?^ *\1/gm, '').matchAll(/^(#{1,6}) +(.*?) *#*$/gm)) {
    const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\\_/g, '_').trim();
    const bare = plain.replace(/[\u2000-\u206F\u2E00-\u2E7F\\'!"#$%&()*+,./:;<=>?@[\]^`{|}~]/g, '').replace(/\s/g, '-').toLowerCase();
    const slug = joined ? bare.replace(/-+/g, '-').replace(/^(\d)/, '_$1') : bare;
    const before = found.filter((one) => one.slug === slug).length;
    const suffix = joined ? before : before + 1;
    found.push({ level: level.length, slug, anchor: before ? `${slug}-${suffix}` : slug });
  }
  return new Set(found.filter(({ level }) => joined || level > 1).map(({ anchor }) => anchor));
}

/** The anchors of a page: undefined if the site has no such page. */
function anchors(site, page) {
  const source = path.join(site, page.replace(/^\//, '').replace(/(^|\/)$/, '$1README').concat('.md'));
  if (existsSync(source)) return slugs(readFileSync(source, 'utf8'), page.startsWith('/'));
  const file = [page, path.join(page, 'index.html'), `${page}.html`].map((name) => path.join(site, name)).find((name) => /\.html?$/.test(name) && existsSync(name));
  if (!file) return undefined;
  const found = readFileSync(file, 'utf8').matchAll(/<[^>]*?\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/g);
  return new Set([...found].map(([, ...values]) => decode(values.find(Boolean) ?? '')));
}

/** Says what is wrong with a target such as "page.html#anchor"; undefined if it exists. */
function missing(site, target) {
  // docsify's addresses: #/page?id=anchor
  const [page, anchor = ''] = target.startsWith('#/') ? target.slice(1).split('?id=') : target.split('#').map(decodeURIComponent);
  const known = anchors(site, page);
  if (!known) return `${target}: no such page`;
  return anchor && !known.has(anchor) ? `${target}: no such anchor` : undefined;
}

const kind = (one) => ('url' in one ? 'answered' : 'absent' in one ? 'absent' : 'both');
const kinds = process.argv.length > 2 ? process.argv.slice(2) : readdirSync(path.join(here, 'tuned')).map((file) => path.basename(file, '.json'));
for (const name of kinds) {
  const site = path.join(OUT, name, 'site');
  const all = Object.entries(COUNTS).flatMap(([folder, counts]) => {
    const questions = JSON.parse(readFileSync(path.join(here, folder, `${name}.json`), 'utf8'));
    for (const [what, count] of Object.entries(counts)) assert.equal(questions.filter((one) => kind(one) === what).length, count, `${folder}/${name}: ${what}`);
    return questions;
  });
  assert.equal(new Set(all.map(({ sentence }) => sentence.toLowerCase())).size, all.length, `${name}: a sentence occurs twice`);
  for (const { sentence, keywords, both } of all) {
    const words = keywords.split(' ').length;
    assert.ok(words >= 2 && words <= 6, `${name}: ${words} keywords of "${sentence}"`);
    assert.ok(!both || both.length === 2, `${name}: two pages of "${sentence}"`);
    assert.doesNotMatch(`${sentence} ${keywords}`, /\b[a-z\d-]+\.(io|org|com)\b|\bhttps?:/i, `${name}: a host name`);
  }
  const targets = all.flatMap(({ url, also = [], both = [] }) => [...(url ? [url] : []), ...also, ...both]);
  if (existsSync(site)) assert.deepEqual(targets.map((target) => missing(site, target)).filter(Boolean), [], name);
  console.log(`${name.padEnd(10)} ${all.length} questions, ${targets.length} targets ${existsSync(site) ? 'exist' : 'not checked: the site is not built'}`);
}

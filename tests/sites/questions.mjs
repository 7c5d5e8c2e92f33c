// node tests/sites/questions.mjs [KIND…]: draws a hundred questions for each site from its pages' own headings, with a seed.
// They are committed before any index is built, and must not be changed to suit a search.
// A question: { question, url, also?, shape }. `url`: the page, with the section's anchor if the heading has one; `also`:
// other anchors of the same heading. `shape`: how it was made.
import { random } from '../../.ci/random.mjs';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from './build.mjs';
import { KINDS } from './kinds.mjs';
import { readSite } from './pages.mjs';

const COUNT = 100;
const SEED = 7;

// Headings that state a section's role on its page, not its topic.
const GENERIC = /^(examples?|see also|notes?|overview|description|usage|synopsis|options?|introduction|summary|configuration|conclusion|parameters?|arguments?|returns?|errors?|panics?|safety|cancel safety|details|changelog|index|api|faq|version .*|v?\d+(\.[\dx]+)*.*|released? .*|unreleased|— ?|new|bug fixes|features?|fixes?|changes?|security|license|contents?|table of contents|home|more|next steps?|wrap-?up|background|motivation)$/i;
const STOP = new Set('a an and are as at be been but by can could did do does each for from had has have how i if in into is it its itself may more most must not of on one only or other our out over own same should so some such than that the their them then there these they this those to too under up use used uses using via was we were what when where which while who why will with would you your also any all about because both same like just make makes made see want need well even very below above section following example examples'.split(' '));

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
const telling = (text) => words(text).filter((word) => word.length > 2 && !STOP.has(word) && !/^\d+$/.test(word));

/**
 * The headings that one can ask about: they are meaningful, and no other heading on the site contains all of their words,
 * since a person could not say then which one is meant.
 */
function askable(pages) {
  const headings = pages.flatMap(({ sections }) => sections.map(({ text }) => new Set(words(text))));
  const alone = (text) => headings.filter((other) => telling(text).every((word) => other.has(word))).length === 1;
  return pages.flatMap(({ page, sections }) => sections.map((section, at) => ({ page, at, ...section })))
    .filter(({ level, text, ids, at, generated }) => level <= 3 && !generated && (ids.length || at === 0)
      && !GENERIC.test(text) && /[a-z]{3}/i.test(text) && words(text).length <= 12
      && telling(text).length && telling(text).join('').length >= 5 && alone(text));
}

const lower = (text) => (/^[A-Z][a-z]+(\s|$)/.test(text) && !/\s[A-Z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text);
const asks = (text) => /\?$|^(how|why|what|when|where|which|who|will|can|do|does|is|are)\b/i.test(text);
const SHAPES = {
  bare: ({ text }) => text,
  lowercase: ({ text }) => words(text).join(' '),
  how: ({ text }) => (/^[A-Z][a-z]+ing\b/.test(text) ? `How do I go about ${lower(text)}?` : `How do I use ${lower(text)}?`),
  works: ({ text }) => `How does ${lower(text)} work?`,
  what: ({ text }) => `What is ${lower(text)}?`,
  tell: ({ text }) => `Tell me about ${lower(text)}`,
  where: ({ text }) => `Where do the docs explain ${lower(text)}?`,
};
/** The number of questions of each shape; the rest, a fifth, are made of words of the section's first sentence. */
const PLAN = { bare: 16, lowercase: 12, how: 14, works: 10, what: 12, tell: 8, where: 8 };

/** The five rarest words of the section's first sentence, in order; undefined if it has too few, or occurs elsewhere too. */
function sentence({ first }, rarity, times) {
  const found = [...new Set(telling(first))];
  if (found.length < 6 || times(first) > 1) return undefined;
  const rare = new Set([...found].sort((a, b) => rarity(a) - rarity(b) || a.localeCompare(b)).slice(0, 5));
  return found.filter((word) => rare.has(word)).join(' ');
}

function draw(kind, pages) {
  const next = random(SEED + kind.length * 1000);
  const pool = askable(pages).map((section) => ({ section, order: next() })).sort((a, b) => a.order - b.order).map(({ section }) => section);
  const pagesWith = new Map();
  for (const { sections } of pages) for (const word of new Set(sections.flatMap(({ text, first }) => words(`${text} ${first}`)))) pagesWith.set(word, (pagesWith.get(word) ?? 0) + 1);
  const said = pages.flatMap(({ sections }) => sections.map(({ first }) => first));
  const ofSentence = (section) => sentence(section, (word) => pagesWith.get(word) ?? 0, (first) => said.filter((other) => other === first).length);
  const questions = [];
  const asked = new Set();
  const take = (shape, make) => {
    const at = pool.findIndex((section) => { const question = make(section); return question && !asked.has(question); });
    if (at < 0) return false;
    const [section] = pool.splice(at, 1);
    const question = asks(section.text) && shape !== 'sentence' ? section.text : make(section);
    asked.add(question);
    const [anchor, ...also] = section.ids;
    questions.push({ question, url: section.page + (anchor ? `#${anchor}` : ''), ...(also.length ? { also } : {}), ...(section.at === 0 ? { top: true } : {}), shape });
    return true;
  };
  const planned = Object.entries(PLAN).flatMap(([shape, count]) => Array.from({ length: count }, () => shape));
  for (let left = COUNT - planned.length; left > 0 && take('sentence', ofSentence); left -= 1);
  for (const shape of planned) take(shape, SHAPES[shape]);
  // Host names stay out of the repository; another section is asked about in the same shape.
  const host = /\b[a-z\d-]+\.(io|org|com)\b|\bhttps\b/i;
  for (let at = 0; at < questions.length; at += 1) {
    if (!host.test(questions[at].question)) continue;
    const { shape } = questions[at];
    take(shape, shape === 'sentence' ? ofSentence : SHAPES[shape]);
    questions[at] = questions.pop();
    at -= 1;
  }
  while (questions.length < COUNT && take('bare', SHAPES.bare));
  return questions;
}

const wanted = process.argv.slice(2);
for (const kind of wanted.length ? wanted : Object.keys(KINDS)) {
  const { site } = await build(kind);
  const pages = await readSite(kind, site);
  const questions = draw(kind, pages);
  const out = path.join(import.meta.dirname, 'questions', `${kind}.json`);
  mkdirSync(path.dirname(out), { recursive: true });
  writeFileSync(out, `[\n${questions.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`);
  console.log(`${kind}: ${pages.length} pages, ${pages.reduce((sum, { sections }) => sum + sections.length, 0)} headings, ${askable(pages).length} to ask for, ${questions.length} questions`);
}

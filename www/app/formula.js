// Draws the formulas of answers. Until one is drawn, and if it is wrong, its source is there as code. A worker makes MathML of it, as
// data (www/formula/worker.js); of that, only the elements and attributes listed here come into the page. Loads with the first formula.
import { trustedUrl } from './turnwise/app-client.js';

/** Longer sources stay what they are. */
const MAX_TEX = 5_000;
/** What a formula may become. Browsers lay out deep ones slowly. */
const MAX_ELEMENTS = 4_000;
const MAX_DEPTH = 60;
/** For one formula, once the worker runs. */
const LATE_MS = 3_000;
/** Formulas that are kept: a text that streams is drawn over and over. */
const KEPT = 2_000;

const MATHML = 'http://www.w3.org/1998/Math/MathML';
const ELEMENTS = new Set([
  'math', 'semantics', 'annotation', 'mrow', 'mi', 'mn', 'mo', 'mtext', 'mspace', 'mstyle', 'mpadded', 'mphantom', 'menclose', 'mfrac', 'msqrt', 'mroot',
  'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover', 'mtable', 'mtr', 'mtd',
]);
const WORD = /^[a-z-]{1,30}$/;
const LENGTH = /^-?\d{0,4}(\.\d{1,6})?(em|ex|mu|px|pt|%)?$/;
const COLOUR = /^(#[0-9a-f]{3,8}|[a-z]{3,30})$/i;
const ATTRIBUTES = {
  __proto__: null,
  ...Object.fromEntries(['accent', 'accentunder', 'display', 'displaystyle', 'fence', 'form', 'largeop', 'linebreak', 'mathvariant', 'movablelimits', 'separator', 'stretchy', 'symmetric'].map((name) => [name, WORD])),
  ...Object.fromEntries(['depth', 'height', 'linethickness', 'lspace', 'mathsize', 'maxsize', 'minsize', 'rspace', 'voffset', 'width'].map((name) => [name, LENGTH])),
  mathcolor: COLOUR, notation: /^[a-z ]{1,60}$/, scriptlevel: /^[+-]?\d$/,
};

// Browsers know only one of the alphabets that `mathvariant` names: the others are characters of their own. By variant: the first
// capital letter, small letter and digit, and the letters that are elsewhere.
const ALPHABETS = {
  __proto__: null,
  bold: [0x1d400, 0x1d41a, 0x1d7ce], italic: [0x1d434, 0x1d44e, 0, { h: 'ℎ' }], 'bold-italic': [0x1d468, 0x1d482],
  script: [0x1d49c, 0x1d4b6, 0, { B: 'ℬ', E: 'ℰ', F: 'ℱ', H: 'ℋ', I: 'ℐ', L: 'ℒ', M: 'ℳ', R: 'ℛ', e: 'ℯ', g: 'ℊ', o: 'ℴ' }], 'bold-script': [0x1d4d0, 0x1d4ea],
  fraktur: [0x1d504, 0x1d51e, 0, { C: 'ℭ', H: 'ℌ', I: 'ℑ', R: 'ℜ', Z: 'ℨ' }], 'bold-fraktur': [0x1d56c, 0x1d586],
  'double-struck': [0x1d538, 0x1d552, 0x1d7d8, { C: 'ℂ', H: 'ℍ', N: 'ℕ', P: 'ℙ', Q: 'ℚ', R: 'ℝ', Z: 'ℤ' }],
  'sans-serif': [0x1d5a0, 0x1d5ba, 0x1d7e2], 'bold-sans-serif': [0x1d5d4, 0x1d5ee, 0x1d7ec], 'sans-serif-italic': [0x1d608, 0x1d622], 'sans-serif-bold-italic': [0x1d63c, 0x1d656],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
};

let styled;
let worker;
let answers; // the timer until the next answer is late
let number = 0;
/** By source: what a formula became, or `null` if its source stays. */
const drawn = new Map();
/** By source, in the order in which they were asked: the elements that wait for them, and the sources by number. */
const asked = new Map();
const sources = new Map();

/** Draws the formulas of a text, at once if they were drawn before. */
export async function draw(host) {
  await (styled ??= styles());
  for (const code of host.querySelectorAll('code.tex')) {
    const key = keyOf(code);
    const known = drawn.get(key);
    if (known) code.replaceWith(known.cloneNode(true));
    else if (known === undefined) ask(key, code);
  }
}

const keyOf = (code) => `${code.classList.contains('display') ? 'd' : 'i'}${code.textContent}`;

const styles = () => new Promise((resolve) => {
  const link = document.createElement('link');
  Object.assign(link, { rel: 'stylesheet', href: new URL('./styles/drawing.css', import.meta.url).href, onload: resolve, onerror: resolve });
  document.head.append(link);
});

function ask(key, code) {
  if (key.length > MAX_TEX) return keep(key, null);
  if (asked.has(key)) return void asked.get(key).push(code);
  asked.set(key, [code]);
  return worker ? post(key) : start();
}

function start() {
  const mine = worker = new Worker(trustedUrl(new URL('./formula-worker.js', import.meta.url).href), { name: 'turnwise-formulas' });
  mine.onmessage = ({ data }) => {
    if (mine !== worker) return;
    clearTimeout(answers);
    if (data) take(data);
    if (asked.size) answers = setTimeout(late, LATE_MS);
  };
  // It could not be loaded: the next formula tries again.
  mine.onerror = () => {
    asked.clear();
    end();
  };
  for (const key of asked.keys()) post(key);
}

function post(key) {
  number += 1;
  sources.set(number, key);
  worker.postMessage([number, key.slice(1), key[0] === 'd']);
}

function end() {
  clearTimeout(answers);
  sources.clear();
  worker.terminate();
  worker = undefined;
}

/** The first formula that was asked for takes too long. */
function late() {
  const [key] = asked.keys();
  asked.delete(key);
  keep(key, null);
  end();
  if (asked.size) start();
}

function take([at, tree]) {
  const key = sources.get(at);
  const codes = asked.get(key);
  sources.delete(at);
  asked.delete(key);
  let made = null;
  try {
    if (tree) made = formula(tree, key[0] === 'd');
  } catch {
    // More than a page should lay out: its source stays.
  }
  keep(key, made);
  if (made) for (const code of codes) code.replaceWith(made.cloneNode(true));
}

function keep(key, made) {
  if (drawn.size >= KEPT) drawn.clear();
  drawn.set(key, made);
}

/** `tree`: a text, or the name of an element with its attributes and children. */
function formula(tree, display) {
  let left = MAX_ELEMENTS;
  const copy = (node, depth, variant) => {
    if (typeof node === 'string') return letters(node, variant);
    const [name, attributes, children] = node;
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH) throw new Error('too large');
    if (!ELEMENTS.has(name)) return '';
    const made = document.createElementNS(MATHML, name);
    // Browsers take `+6pt`, an addition, for the size itself.
    const adds = attributes.width?.startsWith('+');
    for (const [of, value] of adds ? [] : Object.entries(attributes)) if (ATTRIBUTES[of]?.test(value)) made.setAttribute(of, value);
    if (name === 'mspace' && 'mathbackground' in attributes) made.classList.add('rule');
    for (const child of children) made.append(copy(child, depth + 1, attributes.mathvariant));
    if (name === 'mtable') columns(attributes, made);
    return made;
  };
  const math = copy(tree, 0);
  const box = document.createElement('span');
  // It may have to scroll.
  const long = math.querySelectorAll('mi, mn, mo').length > 24;
  box.className = `formula${display ? ' display' : ''}${long ? ' long' : ''}`;
  box.dir = 'ltr';
  if (long) Object.entries({ tabindex: 0, role: 'group', 'aria-label': 'Formula' }).forEach((of) => box.setAttribute(...of));
  box.append(math);
  return box;
}

function letters(text, variant) {
  const [capital, small, digit, others] = ALPHABETS[variant] ?? [];
  if (!capital) return text;
  const moved = (letter, from, to) => (to ? String.fromCodePoint(letter.charCodeAt(0) - from.charCodeAt(0) + to) : letter);
  return text.replace(/[A-Za-z0-9]/g, (letter) => others?.[letter] ?? (letter >= 'a' ? moved(letter, 'a', small) : letter >= 'A' ? moved(letter, 'A', capital) : moved(letter, '0', digit)));
}

/** The alignment and the lines of a table, which browsers leave to styles. */
function columns(attributes, table) {
  const list = (name) => (attributes[name] ?? '').split(' ');
  const of = (values, at) => values[Math.min(at, values.length - 1)];
  const [aligned, right, below] = ['columnalign', 'columnlines', 'rowlines'].map(list);
  [...table.children].forEach((row, y) => [...row.children].forEach((cell, x) => {
    const align = of(aligned, x);
    if (align === 'left' || align === 'right') cell.classList.add(align);
    if (of(right, x) === 'solid' && x + 1 < row.children.length) cell.classList.add('line-right');
    if (of(below, y) === 'solid' && y + 1 < table.children.length) cell.classList.add('line-below');
  }));
}

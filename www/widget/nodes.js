// Converts Markdown nodes (a closed set, from the worker) to elements (also a closed set). Text only ever becomes text nodes;
// no element that runs anything is created, and none that loads anything, except pictures where a page asks for them; the only URL is
// that of a link: http, https or mailto.

const h = (name, ...children) => {
  const element = document.createElement(name);
  element.append(...children);
  return element;
};

/** Resolves an address if its scheme is one that a model may link to. */
export function safe(href, base) {
  try {
    const url = new URL(href, base);
    return /^(https?|mailto):$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns what a link shows behind its text: its host or mailbox, unless the whole text is just that or the very address. Text that is
 * not plain ASCII never is: it can look like other characters. The rule of crates/content/src/markdown/target.rs, tested with the same cases.
 */
export function beside(text, url) {
  const words = text.trim();
  const mail = url.protocol === 'mailto:';
  const target = mail ? url.pathname + url.search : url.host;
  if (/[^!-~]/.test(words)) return target;
  const plain = words.toLowerCase().replace(mail ? /^mailto:/ : /^https?:\/\//, '');
  if (mail) return plain === target.toLowerCase() ? undefined : target;
  if (words.toLowerCase() === target) return undefined;
  const says = plain.startsWith(target) && /^([/?#]|$)/.test(plain.slice(target.length));
  return says && [words, `https://${words}`, `http://${words}`].some((address) => safe(address)?.href === url.href) ? undefined : target;
}

/**
 * `where`: { base, newTab(), known(url): whether the run found or read that section, unread: the words for links where it did not,
 * copy(text): a button, bare: links without annotations, plain: of the annotations only the host, pictures: shown, not linked }.
 * Links within the site stay in its tab; a link to another host shows that host, whatever its text says.
 */
function link({ href, children }, where) {
  const url = safe(href, where.base);
  const inside = inlines(children, where);
  if (!url) return h('span', ...inside);
  const element = h('a', ...inside);
  // Characters that change the order of what is shown change it in this text only.
  if (/[\u202a-\u202e\u2066-\u2069]/.test(element.textContent)) element.replaceChildren(h('bdi', ...inside));
  element.href = url.href;
  const foreign = url.origin !== new URL(where.base).origin;
  if (foreign || where.newTab?.()) {
    element.target = '_blank';
    element.rel = 'noopener noreferrer';
  }
  if (where.bare) return element;
  if (!where.plain && !where.known?.(url)) {
    // Into the site itself: it looks like a source and is none.
    element.className = foreign ? 'other' : 'other unread';
    element.setAttribute('aria-describedby', 'not-read');
    if (where.unread) element.title = where.unread;
  }
  const target = foreign && beside(element.textContent, url);
  if (target) {
    const host = h('small', ` ${target}`);
    host.dir = 'ltr';
    element.append(host);
  }
  return element;
}

/** A picture from a web server, which learns nothing of the page that shows it. */
function picture(alt, href, { base }) {
  const url = safe(href, base);
  if (!/^https?:$/.test(url?.protocol)) return undefined;
  const element = h('img');
  element.loading = 'lazy';
  element.referrerPolicy = 'no-referrer';
  element.alt = alt;
  element.src = url.href;
  return element;
}

function list({ start, items }, where) {
  const element = h(start === undefined ? 'ul' : 'ol');
  if (start > 1) element.start = start;
  for (const { task, children } of items) {
    const item = h('li', ...(task ? [task === 'done' ? '☑ ' : '☐ '] : []), ...inlines(children, where));
    if (task) item.className = 'box-item';
    element.append(item);
  }
  return element;
}

function code({ lang, spans }, where) {
  const element = h('code', ...spans.map(({ class: kind, text }) => {
    if (!kind || kind === 'plain') return text;
    const run = h('span', text);
    run.className = `c-${kind}`;
    return run;
  }));
  const pre = h('pre', element);
  pre.tabIndex = 0;
  pre.setAttribute('part', 'code');
  if (lang) pre.dataset.lang = lang;
  const copy = where.copy?.(element);
  if (!copy) return pre;
  const box = h('div', pre, copy);
  box.className = 'code';
  return box;
}

function table({ align, head, rows }, where) {
  const row = (cells, name) => h('tr', ...cells.map((cell, at) => {
    const element = h(name, ...inlines(cell, where));
    if (align[at] === 'right' || align[at] === 'center') element.className = align[at];
    return element;
  }));
  const box = h('div', h('table', h('thead', row(head, 'th')), h('tbody', ...rows.map((cells) => row(cells, 'td')))));
  box.className = 'wide';
  box.tabIndex = 0;
  return box;
}

const DRAW = {
  __proto__: null,
  paragraph: (children, where) => h('p', ...inlines(children, where)),
  // Headings rank below the panel's own, whatever level a model writes.
  heading: ({ level, children }, where) => h(level > 2 ? 'h4' : 'h3', ...inlines(children, where)),
  list,
  code_block: code,
  quote: (children, where) => h('blockquote', ...children.map((child) => block(child, where))),
  table,
  written: (text) => {
    const element = h('p', text);
    element.className = 'written';
    element.style.whiteSpace = 'pre-wrap';
    return element;
  },
  text: (words) => document.createTextNode(words),
  strong: (children, where) => h('strong', ...inlines(children, where)),
  emphasis: (children, where) => h('em', ...inlines(children, where)),
  strike: (children, where) => h('s', ...inlines(children, where)),
  code: (text) => h('code', text),
  formula: ({ tex }) => h('code', tex),
  footnote_mark: (number) => document.createTextNode(`[${number}]`),
  link,
  image: ({ alt, href }, where) => (where.pictures && href ? picture(alt, href, where) : undefined) ?? (href ? link({ href, children: [{ text: alt || href }] }, where) : h('em', alt)),
};
const BLOCKS = new Set(['paragraph', 'heading', 'list', 'code_block', 'quote', 'table', 'written']);

function draw(node, where) {
  if (node === 'rule') return h('hr');
  if (node === 'break') return h('br');
  const [kind, value] = Object.entries(node)[0];
  return DRAW[kind]?.(value, where) ?? document.createTextNode('');
}

const inlines = (nodes, where) => nodes.map((node) => draw(node, where));

function block(node, where) {
  const [kind] = typeof node === 'string' ? [node] : Object.keys(node);
  return BLOCKS.has(kind) || kind === 'rule' ? draw(node, where) : h('p', draw(node, where));
}

/** Longer texts, and those of more nodes, are shown as they were written: drawing them would keep the host's page busy for seconds. */
const LARGE = 256 * 1024;
const MANY = 40_000;
/** In pieces, of which a browser lays out only what is seen. */
const PIECE = 8 * 1024;

/** Nodes that show a text as it was written. */
export const written = (text) => Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) => ({ written: text.slice(at * PIECE, (at + 1) * PIECE) }));
const count = (value) => (typeof value === 'object' && value !== null ? Object.values(value).reduce((sum, one) => sum + count(one), 1) : 0);

/** Converts a text to nodes with `render(text)`. Rejects as that does. */
export async function nodesOf(text, render) {
  const nodes = text.length > LARGE ? written(text) : await render(text);
  return count(nodes) > MANY ? written(text) : nodes;
}

/** Draws the blocks into `parent`. Unchanged blocks keep their elements: a stream only redraws its end. */
export function show(parent, nodes, where) {
  // Whoever emptied the element in the meantime gets all of it again.
  const before = parent.drawn?.length === parent.childNodes.length ? parent.drawn : [];
  const now = nodes.map((node) => JSON.stringify(node));
  let same = 0;
  while (same < now.length && now[same] === before[same]) same += 1;
  while (parent.childNodes.length > same) parent.lastChild.remove();
  for (const node of nodes.slice(same)) parent.append(block(node, where));
  parent.drawn = now;
}

/** Returns the links of the answer in order, each URL once: [{ href, text }]. */
export function links(nodes, base) {
  const found = new Map();
  const add = (url, label) => url && url.protocol !== 'mailto:' && !found.has(url.href) && found.set(url.href, label);
  const plain = (of) => of.map((node) => (typeof node === 'string' ? ' ' : words(Object.entries(node)[0]))).join('');
  const words = ([kind, value]) => {
    if (kind === 'text' || kind === 'code') return value;
    if (kind === 'image') return value.alt;
    return plain(Array.isArray(value) ? value : value.children ?? []);
  };
  const walk = (value) => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (typeof value !== 'object' || value === null || value.code_block) return undefined;
    if (value.link) return add(safe(value.link.href, base), plain(value.link.children).trim());
    return Object.values(value).forEach(walk);
  };
  walk(nodes);
  return [...found].map(([href, label]) => ({ href, text: label || href }));
}

// Small helpers to build elements, never by parsing HTML text: so no policy blocks it, and model text is never treated as HTML.

/** Creates an element: `on…` keys of `of` are listeners, `class` is its class, the rest are attributes; then its children. */
export function h(name, of = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(of)) {
    if (value === undefined || value === false || value === null) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

const ICONS = {
  close: 'M6 6l12 12M18 6L6 18',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  plus: 'M12 5v14M5 12h14',
  send: 'M12 20V5M5.5 11.5L12 5l6.5 6.5',
  stop: 'M7 7h10v10H7z',
  chevron: 'M9 5l7 7-7 7',
  good: 'M7 11v9H4v-9zM7 11l4-7c1.6 0 2.4 1 2.2 2.5L12.8 10H19l-1.6 8.5c-.2.9-.9 1.5-1.8 1.5H7',
  bad: 'M7 13V4H4v9zM7 13l4 7c1.6 0 2.4-1 2.200-2.5L12.8 14H19l-1.6-8.5C17.200 4.600 16.500 4 15.600 4H7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M5 12.5l4.5 4.5L19 7',
};

/** Creates a line icon; it always comes with a labelled button. */
export function icon(name) {
  const make = (tag, of) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(of)) element.setAttribute(key, value);
    return element;
  };
  const svg = make('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' });
  svg.append(make('path', { d: ICONS[name], ...(name === 'more' && { 'stroke-width': 2.8 }) }));
  return svg;
}

/** Creates a button that shows an icon. */
export const iconButton = (name, label, onclick, of = {}) => h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick, ...of }, icon(name));
export const button = (label, onclick, of = {}) => h('button', { type: 'button', class: 'button', onclick, ...of }, label);

/** Resolves an address if it may be opened: only http or https, so that no address runs as a script. */
export function web(address, base = document.baseURI) {
  try {
    const url = new URL(address, base);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Z}]/gu;

/** Decodes a path for display. Invalid escapes and characters that would hide or reorder text stay encoded. */
export function readable(path) {
  try {
    return decodeURI(path).replace(HIDDEN, encodeURIComponent);
  } catch {
    return path;
  }
}

/**
 * Returns the page as the browser shows it, if the site allows that: it may be what only this visitor may see. `undefined` also after
 * client-side navigation, since generators' metadata then describes the first page.
 */
export function livePage({ docsLivePage }) {
  if (docsLivePage !== 'include') return undefined;
  const page = (address) => address?.split('#')[0];
  return page(performance.getEntriesByType('navigation')[0]?.name) === page(location.href) ? document.documentElement.outerHTML : undefined;
}

const DONE_MS = 1500;

/** Copies a text where the clipboard's API is denied; returns whether that worked. */
function copyOtherwise(text) {
  const give = (event) => {
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener('copy', give, true);
  try {
    return document.execCommand('copy');
  } finally {
    removeEventListener('copy', give, true);
  }
}

/**
 * Creates a button that copies `text()` and confirms it. A page's policy may forbid that: then the text in `shown()` is selected, for
 * the visitor to copy. `told(done)` is called with whether it was copied.
 */
export function copyButton(label, text, shown, told = () => {}) {
  const made = iconButton('copy', label, async () => {
    const content = text();
    const done = await navigator.clipboard?.writeText(content).then(() => true, () => false) || copyOtherwise(content);
    if (!done) getSelection().selectAllChildren(shown());
    made.replaceChildren(icon(done ? 'done' : 'close'));
    setTimeout(() => made.replaceChildren(icon('copy')), DONE_MS);
    told(done);
  }, { part: 'copy' });
  return made;
}

/** Saves a file to the visitor's device. */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

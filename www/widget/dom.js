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

/** Icons of Lucide, each as one path, as in the app (crates/ui/src/components/icon.rs). */
const ICONS = {
  close: 'M18 6 6 18M6 6l12 12',
  more: 'M11 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M18 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M4 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0',
  plus: 'M5 12h14M12 5v14',
  send: 'M5 12l7-7 7 7M12 19V5',
  stop: 'M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2z',
  chevron: 'M9 18l6-6-6-6',
  good: 'M15 5.88 14 10h5.83a2 2 0 0 1 1.92 2.56l-2.33 8A2 2 0 0 1 17.5 22H4a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2h2.76a2 2 0 0 0 1.79-1.11L12 2a3.13 3.13 0 0 1 3 3.88ZM7 10v12',
  bad: 'M9 18.12 10 14H4.17a2 2 0 0 1-1.92-2.56l2.33-8A2 2 0 0 1 6.5 2H20a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-2.76a2 2 0 0 0-1.79 1.11L12 22a3.13 3.13 0 0 1-3-3.88ZM17 14V2',
  copy: 'M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-10a2 2 0 0 1-2-2v-10a2 2 0 0 1 2-2zM4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2',
  done: 'M20 6 9 17l-5-5',
};

/** Creates a line icon; it always comes with a labelled button. */
export function icon(name) {
  const make = (tag, of) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(of)) element.setAttribute(key, value);
    return element;
  };
  const svg = make('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' });
  svg.append(make('path', { d: ICONS[name] }));
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

// Draws diagrams: blocks of code in the language `mermaid` of complete answers. Their source is one click away, and stays if it cannot
// be drawn. Mermaid runs in a frame of an opaque origin (www/diagram/frame.js), which loads nothing and sees nothing of the page. What
// it makes becomes a picture, in which nothing runs or loads either. Loads with the first diagram.

/** Longer sources and larger drawings are not drawn. */
const MAX_TEXT = 10_000;
const MAX_DRAWING = 4_000_000;
const MAX_SIZE = 20_000;
/** How long one drawing may take, and the frame to load. */
const DRAW_MS = 10_000;
const LOAD_MS = 60_000;
/** A drawing that is wider than its place is made smaller only as long as it can be read; then it scrolls. */
const LEAST_SCALE = 0.6;

/** What is known of each block, and those that are drawn, also in runs that are not open now. */
const boxes = new WeakMap();
const shown = new Set();
const waiting = new Set();
const scheme = matchMedia('(prefers-color-scheme: dark)');
let styled;
let frame;
let working = false;

/** Draws the diagrams of a text. */
export function draw(host) {
  styled ??= styles();
  for (const box of host.querySelectorAll('.code[data-lang="mermaid"]')) {
    if (boxes.has(box)) continue;
    boxes.set(box, {});
    waiting.add(box);
  }
  work();
}

function styles() {
  const link = document.createElement('link');
  Object.assign(link, { rel: 'stylesheet', href: new URL('./styles/drawing.css', import.meta.url).href });
  document.head.append(link);
  // Drawings follow the theme.
  scheme.addEventListener('change', again);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return true;
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme === 'dark' || (theme !== 'light' && scheme.matches);
}

function again() {
  const dark = isDark();
  for (const reference of shown) {
    const box = reference.deref();
    if (!box) shown.delete(reference);
    else if (boxes.get(box).dark !== dark) waiting.add(box);
  }
  work();
}

/** One drawing after the other; then the frame goes. */
async function work() {
  if (working) return;
  working = true;
  for (const box of waiting) {
    waiting.delete(box);
    // A text that is written anew has new blocks.
    if (!box.closest('.prose')) continue;
    await one(box);
    if (box.classList.contains('drawn') && boxes.get(box).dark !== isDark()) waiting.add(box);
  }
  close();
  working = false;
}

async function one(box) {
  const pre = box.querySelector('pre');
  const dark = isDark();
  try {
    show(box, pre, await drawingOf(pre.textContent.trimEnd(), dark));
  } catch (error) {
    if (box.classList.contains('drawn')) return; // in the other theme
    const note = document.createElement('p');
    note.className = 'no-drawing';
    note.textContent = `The diagram is not drawn: ${error.message}.`;
    pre.before(note);
  } finally {
    boxes.get(box).dark = dark;
  }
}

function show(box, pre, { svg, width, height }) {
  const { picture } = boxes.get(box);
  const image = picture ?? document.createElement('img');
  // Not as the address of a blob, which would be a document of the page's origin.
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  if (picture) return;
  boxes.get(box).picture = image;
  const kind = /^\s*([a-z]+)/im.exec(pre.textContent.replace(/^---[^]*?---|%%.*/gm, ''))?.[1] ?? 'diagram';
  Object.assign(image, { alt: `Diagram: ${kind}`, width: Math.ceil(width), height: Math.ceil(height) });
  image.style.minWidth = `${Math.round(width * LEAST_SCALE)}px`;
  const place = document.createElement('div');
  Object.entries({ class: 'drawing', tabindex: 0, role: 'group', 'aria-label': 'Diagram' }).forEach((of) => place.setAttribute(...of));
  place.append(image);
  pre.before(place);
  const toggle = document.createElement('button');
  toggle.type = 'button';
  const label = () => { toggle.textContent = box.classList.contains('source') ? 'Show drawing' : 'Show source'; };
  toggle.addEventListener('click', () => {
    box.classList.toggle('source');
    label();
  });
  label();
  const head = box.querySelector('.code-head');
  head.firstElementChild.classList.add('grow');
  head.firstElementChild.after(toggle);
  box.classList.add('drawn');
  shown.add(new WeakRef(box));
}

/** Resolves with the drawing; rejects with an error that says why there is none. */
async function drawingOf(text, dark) {
  if (text.length > MAX_TEXT) throw new Error('its source is too long');
  const { contentWindow } = await (frame ??= open()).ready;
  const { svg, width, height, fault } = await new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      stop();
      close();
      reject(new Error('it takes too long'));
    }, DRAW_MS);
    const heard = ({ source, data }) => {
      if (source !== contentWindow) return;
      stop();
      resolve(data ?? {});
    };
    const stop = () => {
      clearTimeout(late);
      removeEventListener('message', heard);
    };
    addEventListener('message', heard);
    contentWindow.postMessage({ text, dark }, '*');
  });
  if (typeof svg !== 'string') {
    const line = /^(?:Parse|Lexical) error on line (\d{1,5})/.exec(typeof fault === 'string' ? fault : '')?.[1];
    // The end of the source is a line after it.
    throw new Error(line ? `line ${Math.min(line, text.split('\n').length)} of its source is not understood` : 'its source is not understood');
  }
  const fits = (size) => Number.isFinite(size) && size > 0 && size <= MAX_SIZE;
  if (svg.length > MAX_DRAWING || !fits(width) || !fits(height)) throw new Error('it is too large');
  return { svg, width, height };
}

function open() {
  const element = document.createElement('iframe');
  element.setAttribute('sandbox', 'allow-scripts');
  element.setAttribute('aria-hidden', 'true');
  Object.assign(element, { title: 'Draws diagrams', tabIndex: -1, referrerPolicy: 'no-referrer', src: new URL('./diagram-frame.html', import.meta.url).href });
  // Texts are measured in it, so it has a size.
  element.style.cssText = 'position: fixed; left: -3000px; top: 0; width: 1000px; height: 600px; border: 0; visibility: hidden';
  const ready = new Promise((resolve, reject) => {
    const done = (loaded) => {
      clearTimeout(late);
      element.onload = null;
      removeEventListener('message', heard);
      if (loaded) return resolve(element);
      close();
      return reject(new Error('what draws it could not be loaded'));
    };
    let late = setTimeout(done, LOAD_MS, false);
    const heard = ({ source, data }) => {
      if (source === element.contentWindow && data === 'turnwise-diagram') done(true);
    };
    addEventListener('message', heard);
    element.onload = () => {
      clearTimeout(late);
      late = setTimeout(done, DRAW_MS, false);
    };
  });
  document.body.append(element);
  return { element, ready };
}

function close() {
  frame?.element.remove();
  frame = undefined;
}

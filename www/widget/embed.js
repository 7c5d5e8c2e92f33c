// <turnwise-agent>, the launcher: a button in a shadow root. Once it is opened or hovered over, `widget.js` draws the panel,
// which uses the package's client (turnwise.js), whose engine runs in a worker.

const TAG = 'turnwise-agent';
// Not with new URL: bundlers would treat the folder itself as an asset.
const HERE = import.meta.url.replace(/[^/]*$/, '');
const ATTRIBUTES = [
  'provider', 'base-url', 'model', 'preset', 'docs', 'max-turns', 'theme', 'mode', 'position', 'shortcut', 'label', 'heading',
  'placeholder', 'greeting', 'suggestions', 'src', 'app', 'site', 'docs-credentials', 'docs-live-page', 'launcher', 'trigger', 'contact-url', 'questions', 'follow-ups', 'skills',
];
const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
// The panel and its largest import, in one round trip instead of two.
const PANEL = ['widget', 'turnwise'];
/** The launcher's own texts; those of the panel are in texts.js and texts/. Machine-translated, except English. */
const WORDS = {
  en: ['Ask the docs', 'Could not be loaded. Try again.'], de: ['Frag die Doku', 'Laden misslungen. Noch einmal.'],
  fr: ['Interroger la doc', 'Chargement impossible. Réessayer.'], es: ['Pregunta a la documentación', 'No se pudo cargar. Reintentar.'],
  pt: ['Pergunte à documentação', 'Não foi possível carregar. Tentar de novo.'], it: ['Chiedi alla documentazione', 'Caricamento non riuscito. Riprova.'],
  ja: ['ドキュメントに質問', '読み込めませんでした。再試行'], zh: ['询问文档', '无法加载，请重试。'],
  ko: ['문서에 질문하기', '불러오지 못했습니다. 다시 시도'], ru: ['Спросить документацию', 'Не удалось загрузить. Повторить.'],
};
const INTENT_MS = 120;
/** How long an element that is taken out of the page may take to come back: a router may wait for an animation. */
const AWAY_MS = 3000;
const away = new Set(); // elements that were taken out
const scripted = new WeakMap(); // each element's `src`, if a script set it

// `!important` in the shadow root wins over the page's, so the host's styles do not leak in; inherited values end at `.root`.
// The probe has the page's colours, and a transition: so the browser tells when they change, by whatever means.
const CSS = `
:host { all: initial !important; display: contents !important; color: inherit !important; color-scheme: inherit !important; background-color: inherit !important }
:host([mode=inline]) { display: block !important; background: none !important }
:host([hidden]) { display: none !important }
* { box-sizing: border-box }
.probe { position: fixed; top: 1px; visibility: hidden; background-color: inherit; outline-color: light-dark(#fff, #000); transition: 1ms }
@media (prefers-color-scheme: dark) { .probe { top: 0 } }
.root {
  --accent: var(--turnwise-accent, #0f6b5c); --accent-ink: var(--turnwise-accent-ink, #fff); --focus: var(--turnwise-focus, #0f6b5c);
  font: 15px/1.55 var(--turnwise-font, ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif);
  color: CanvasText; color-scheme: light; text-align: start }
.root[data-theme=dark] { --accent: var(--turnwise-accent-dark, #4fc3ae); --accent-ink: var(--turnwise-accent-ink-dark, #06201b); --focus: var(--turnwise-focus-dark, #4fc3ae); color-scheme: dark }
.pill {
  position: fixed; inset: auto; margin: 0; border: 0; overflow: visible; z-index: 2147483000; display: inline-flex; align-items: center; gap: 8px;
  max-inline-size: calc(100% - 32px); padding: 0 18px 0 14px; min-block-size: 46px; border-radius: 99px; background: var(--accent); color: var(--accent-ink);
  font: inherit; font-weight: 600; line-height: 1.2; letter-spacing: -.005em; text-align: start; cursor: pointer;
  box-shadow: 0 1px 2px rgb(0 0 0 / .12), 0 6px 20px rgb(0 0 0 / .2) }
.pill svg { inline-size: 22px; block-size: 22px; flex: none }
.pill:hover { filter: brightness(1.08) }
.pill:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px }
.pill[hidden] { display: none !important }
.pill[data-busy] svg { animation: turn 1.6s linear infinite }
@keyframes turn { to { transform: rotate(1turn) } }
@media (prefers-reduced-motion: reduce) { .pill[data-busy] svg { animation: none } }
.pill, .root[data-at$=end] .pill { inset-inline-end: max(20px, env(safe-area-inset-right)) }
.root[data-at$=start] .pill { inset-inline: max(20px, env(safe-area-inset-left)) auto }
.pill { inset-block-end: max(20px, env(safe-area-inset-bottom)) }
.root[data-at^=top] .pill { inset-block: max(20px, env(safe-area-inset-top)) auto }
@media print { .root { display: none } }`;

let sheet;
export const styles = () => {
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(CSS);
  return sheet;
};

/** Creates the logo: a turning arrow around a dot. */
export function mark() {
  const make = (name, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const svg = make('svg', { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', 'stroke-width': 2.2, 'stroke-linecap': 'round', 'aria-hidden': 'true' });
  svg.append(make('path', { d: 'M20 12a8 8 0 1 1-2.3-5.6' }), make('path', { d: 'M20 3v4h-4' }), make('circle', { cx: 12, cy: 12, r: 1.6, fill: 'currentColor', stroke: 'none' }));
  return svg;
}

/** Whether an opaque colour, in any notation, is dark; `undefined` if it is not opaque. */
function dark(color) {
  const paper = new OffscreenCanvas(1, 1).getContext('2d');
  paper.fillStyle = color;
  paper.fillRect(0, 0, 1, 1);
  const [r, g, b, alpha] = paper.getImageData(0, 0, 1, 1).data;
  return alpha > 200 ? 3 * r + 6 * g + b < 1280 : undefined;
}
const paints = (element) => element && dark(getComputedStyle(element).backgroundColor);

/** Whether the attributes and classes that docs generators and frameworks set say that the theme is dark; `undefined` if they say nothing. */
function says({ attributes }) {
  for (const { name, value } of attributes) {
    const word = /^class$|theme|scheme|mode/.test(name) && /(?:^|[ -])(?:(dark|slate|night|coal|navy|ayu|black)|light|default|rust|white)(?:[ -]|$)/.exec(value);
    if (word) return Boolean(word[1]);
  }
  return undefined;
}

/** The element and those around it, from the inside out, also out of shadow roots. */
const around = (element) => (element ? [element, ...around(element.parentElement ?? element.getRootNode().host)] : []);

const known = (is) => is !== undefined;

/** The topmost opaque element in the middle of the window that is nearly as high as the page. */
const cover = () => document.elementsFromPoint(innerWidth / 2, innerHeight / 2)
  .find((element) => element.offsetHeight > 0.8 * document.documentElement.scrollHeight && known(paints(element)));

/** Returns the focused element, also inside shadow roots. */
function focused() {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}

/** The launcher's texts in a language such as `pt-br`; `undefined` if there are none. */
const spoken = (language) => (Object.hasOwn(WORDS, language.split('-')[0]) ? WORDS[language.split('-')[0]] : undefined);

/** Resolves with the panel's texts in a language; with nothing for English and unknown ones, or if they cannot be loaded. */
export async function wordsOf(language, load) {
  const name = language.split('-')[0];
  if (name === 'en' || !spoken(name)) return undefined;
  return load(`texts-${name}`).then(({ default: words }) => words, () => undefined);
}

/** Reads a value that widget.js keeps across page changes; access to storage may be denied. */
function stored(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

// The panel's modules, if they are not loaded from next to this file: element.js imports them in a form that bundlers recognize.
let bundled = {};
export const loadBy = (modules) => { bundled = modules; };

// Servers import this file too, and have no HTMLElement.
class TurnwiseAgent extends (globalThis.HTMLElement ?? Object) {
  static observedAttributes = [...ATTRIBUTES, 'lang', 'dir'];
  #root = document.createElement('div');
  #pill;
  #panel; // promise of the panel from widget.js
  #made; // the panel, once it has loaded
  #open = false;
  #live; // aborted when the element has left the page
  #from; // the element to which the focus returns
  #probe = document.createElement('i');
  #watch = new MutationObserver(() => this.#soon());
  #due; // the frame in which the theme is looked at again
  #place; // the storage key with which it was drawn
  #timer; // ends an element that does not come back

  constructor() {
    super();
    const shadow = this.attachShadow({ mode: 'open' });
    this.#root.className = 'root';
    this.#probe.className = 'probe';
    this.#probe.ontransitionrun = () => this.#soon();
    shadow.append(this.#root, this.#probe);
  }

  connectedCallback() {
    // A router may move the element through a document that it has parsed; there it loses its style sheets.
    if (!this.ownerDocument.defaultView) return undefined;
    this.shadowRoot.adoptedStyleSheets[0] ??= styles();
    clearTimeout(this.#timer);
    // Moved within the page, or put back: everything continues. Only a frame loads anew.
    if (this.#live && (!this.#made || this.mode !== 'iframe')) return this.#settle();
    this.#end();
    // Properties that were set before this script loaded hide the accessors.
    for (const name of ATTRIBUTES.map(camel)) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
    this.#live = new AbortController();
    const { signal } = this.#live;
    document.addEventListener('keydown', (event) => this.#key(event), { signal });
    // In the capture phase, to replace the trigger's own action on the host's page (such as opening a search box).
    for (const type of ['click', 'keydown']) document.addEventListener(type, (event) => this.#triggered(event), { signal, capture: true });
    // What the probe does not see: colours of elements that it inherits nothing from.
    for (const type of ['load', 'transitionend']) document.addEventListener(type, () => this.#soon(), { signal, capture: true });
    this.#watch.observe(document.head, { childList: true, subtree: true, attributes: true });
    signal.addEventListener('abort', () => this.#watch.disconnect());
    this.#draw();
    return undefined;
  }

  disconnectedCallback() {
    away.add(this);
    this.#timer = setTimeout(() => this.isConnected || this.#end(), AWAY_MS);
  }

  // With this, `moveBefore` keeps everything as it is.
  connectedMoveCallback() {}

  attributeChangedCallback(name, before, now) {
    if (!this.#live || before === now) return;
    if (name === 'mode' || name === 'src') {
      this.#end();
      this.connectedCallback();
    } else {
      this.#dress();
      this.#made?.update(name);
    }
  }

  async open() {
    if (!this.isConnected) return;
    if (!this.#open || !this.shadowRoot.activeElement) this.#from = focused();
    // Above a dialog that the page has opened since.
    if (this.#open) return void this.#made?.show({ focus: true });
    this.#open = true;
    const waits = !this.#made && this.#pill;
    if (waits) waits.dataset.busy = '';
    const panel = await this.#load();
    if (waits) delete waits.dataset.busy;
    if (!panel || !this.#open) return;
    this.#settle();
    panel.show({ focus: true });
    this.#say('open', {});
  }

  close() {
    if (!this.#open || this.#inline) return;
    const inside = this.shadowRoot.activeElement;
    this.#open = false;
    this.#made?.hide();
    this.#settle();
    // If the focus has moved elsewhere in the meantime, it stays there.
    if (inside || focused() === document.body) (this.#from?.isConnected && this.#from !== document.body ? this.#from : this.#pill)?.focus();
    this.#say('close', {});
  }

  toggle() {
    return this.#open && !this.#made?.blocked ? this.close() : this.open();
  }

  /** Opens the panel and asks a question. Resolves with { output, outcome, reason, sources }. */
  async ask(text) {
    if (!this.isConnected) throw new Error('the <turnwise-agent> is not in a page');
    await this.open();
    const panel = await this.#load();
    if (!panel) throw new Error('the panel could not be loaded');
    return panel.ask(String(text));
  }

  get #inline() {
    return this.mode === 'inline';
  }

  get language() {
    return (this.lang || this.closest('[lang]')?.lang || 'en').toLowerCase();
  }

  /** The storage key of the conversation: one for each site and element. */
  get storageKey() {
    let site = this.site;
    if (!site) {
      const [up, near] = /^(off|auto)?$/.test(this.docs) ? ['..', this.src || HERE] : ['.', this.docs];
      const url = new URL(up, new URL(near, document.baseURI));
      site = url.origin === location.origin ? url.pathname : '/';
    }
    const nameless = [...document.querySelectorAll(`${TAG}:not([id])`)];
    return `turnwise:${site}#${this.id || nameless.indexOf(this)}`;
  }

  /** Dispatches an event; returns whether the page left the default action to the tag. */
  #say(name, detail) {
    return this.dispatchEvent(new CustomEvent(`turnwise-${name}`, { detail, bubbles: true, composed: true, cancelable: name === 'contact' }));
  }

  /** Handles a click on an element that matches `trigger`, or Enter in a matching field, which asks the field's text. */
  #triggered(event) {
    const { target, type, key } = event;
    this.#soon(); // it may change the theme
    // Here and not at the button, since a focus trap of the page may swallow the click.
    if (type === 'click' && event.composedPath().includes(this.#pill)) return void this.open();
    const field = /^(INPUT|TEXTAREA)$/.test(target?.tagName);
    if (!this.trigger || (type === 'keydown' ? !field || key !== 'Enter' || event.isComposing : field)) return;
    let hit;
    try {
      hit = target.closest?.(this.trigger);
    } catch {
      return void console.error(`turnwise-agent: trigger is no selector: ${this.trigger}`);
    }
    if (!hit) return;
    event.preventDefault();
    event.stopPropagation();
    const text = field && target.value.trim();
    if (text) this.ask(text).catch(() => {});
    else this.open();
  }

  #draw() {
    this.#root.replaceChildren();
    this.#place = this.storageKey;
    if (this.#inline) {
      // An inline panel opens when it becomes visible; the worker starts on the first interaction.
      const seen = new IntersectionObserver(async ([entry]) => {
        if (!entry.isIntersecting) return;
        seen.disconnect();
        this.#open = true;
        (await this.#load())?.show({ focus: false });
      });
      seen.observe(this);
      this.#live.signal.addEventListener('abort', () => seen.disconnect());
    } else {
      const pill = document.createElement('button');
      pill.type = 'button';
      pill.className = 'pill';
      pill.popover = 'manual';
      pill.setAttribute('part', 'launcher');
      pill.setAttribute('aria-haspopup', 'dialog');
      pill.append(mark(), document.createElement('span'));
      let intent;
      const forget = () => clearTimeout(intent);
      const wish = () => { forget(); intent = setTimeout(() => this.#load(), INTENT_MS); };
      pill.onpointerenter = pill.onfocus = wish;
      pill.onpointerleave = pill.onblur = forget;
      pill.onclick = forget;
      this.#live.signal.addEventListener('abort', forget);
      this.#root.append(this.#pill = pill);
    }
    this.#settle();
    // A link to this page can contain a question. It is put into the field but not asked: anybody can write a link.
    const brought = document.querySelector(TAG) === this && new URLSearchParams(location.search).get('ask');
    if (brought) this.open().then(async () => (await this.#panel)?.write(brought));
    // The panel was open on the previous page, or a sign-in has ended. On a phone, it would cover the page.
    const state = stored(`${this.storageKey}:open`);
    if (state === 'signin' || (state && innerWidth > 640)) this.#load().then(async (panel) => {
      if (!panel || this.#open) return;
      this.#open = true;
      this.#settle();
      panel.show({ focus: false });
    });
  }

  /** Finds the page's theme, and watches what it was found by. */
  #hostTheme() {
    const all = around(this).slice(1);
    const covering = cover();
    for (const element of [...all, ...around(covering)]) this.#watch.observe(element, { attributes: true });
    // A dark footer does not make a dark page.
    const page = all.filter((element) => this.#inline || !element.closest('footer,nav,aside'));
    const said = page.map(says).findLast(known);
    const painted = page.map(paints).find(known);
    const seen = known(said) && said === painted ? said : paints(covering) ?? painted ?? said;
    // Without a background, the page has the browser's.
    return seen ?? dark(getComputedStyle(this.#probe).outlineColor);
  }

  #soon() {
    cancelAnimationFrame(this.#due);
    this.#due = requestAnimationFrame(() => this.isConnected && this.#dress());
  }

  /** Updates theme, position and texts. */
  #dress() {
    const theme = this.theme === 'dark' || this.theme === 'light' ? this.theme : this.#hostTheme() ? 'dark' : 'light';
    const { dataset } = this.#root;
    if (dataset.theme !== theme) dataset.theme = theme;
    dataset.at = this.position || 'bottom-end';
    this.#root.dir = this.dir || getComputedStyle(this.parentElement ?? document.documentElement).direction;
    const words = spoken(this.language);
    this.#root.lang = words || this.texts ? this.language : 'en';
    if (this.#pill) this.#pill.lastChild.textContent = this.label || this.texts?.label || (words ?? WORDS.en)[0];
  }

  /** Updates the top layer, where the host's z-index and transforms have no effect. */
  #settle() {
    this.#dress();
    if (this.#pill) {
      this.#pill.hidden = this.#open || this.launcher === 'none';
      this.#pill.setAttribute('aria-expanded', this.#open);
      if (this.isConnected) this.#pill.togglePopover(true);
    }
    if (this.#open) this.#made?.show({ focus: false });
  }

  #load() {
    if (!this.#live) return undefined; // a removed element imports nothing
    const { signal } = this.#live;
    const wanted = new URL(this.src || HERE, document.baseURI);
    const { origin } = wanted;
    // An attribute may come through a sanitizer, so only scripts may name code from another site.
    const refused = this.src !== scripted.get(this) && origin !== location.origin && !HERE.startsWith(`${origin}/`) && origin;
    const source = new URL('.', refused ? HERE : wanted).href;
    const modules = this.mode === 'iframe' ? ['frame-host'] : PANEL;
    const load = (name) => (!this.src && bundled[name]?.()) || import(`${source}${name}.js`);
    const words = wordsOf(this.language, load);
    this.#panel ??= Promise.all(modules.map(load)).then(async ([{ create }]) => {
      // It may be a copy that a router puts into the new page only to put the element of the old page into its place.
      if (!this.isConnected) return void (this.#open = this.#panel = undefined);
      // An element that this one replaces stores its conversation first.
      for (const other of away) if (!other.isConnected && other.#place === this.#place) other.#end();
      const made = await create({
        element: this, root: this.#root, pill: this.#pill, mark, source, refused, words: await words,
        say: (name, detail) => this.#say(name, detail), close: () => this.close(),
      });
      if (signal.aborted) return void made.end();
      return (this.#made = made);
    }).catch((error) => {
      this.#panel = undefined;
      this.#open = false;
      this.#settle();
      if (this.#pill) this.#pill.lastChild.textContent = (spoken(this.language) ?? WORDS.en)[1];
      this.#say('error', { message: `the panel could not be loaded: ${error?.message ?? error}` });
    });
    return this.#panel;
  }

  #end() {
    away.delete(this);
    this.#live?.abort();
    this.#made?.end();
    this.#live = this.#panel = this.#made = this.#pill = this.#from = undefined;
    this.#open = false;
    this.#root.replaceChildren();
  }

  #key(event) {
    const keys = (this.shortcut || 'mod+i').toLowerCase().split('+');
    const letter = keys.pop();
    if (letter === 'none' || this.#inline || event.defaultPrevented || event.key?.toLowerCase() !== letter) return;
    const mac = /Mac|iP/.test(navigator.platform);
    const wants = (name) => keys.includes(name) || (keys.includes('mod') && name === (mac ? 'meta' : 'ctrl')) || (name === 'meta' && keys.includes('cmd'));
    if (['ctrl', 'meta', 'alt', 'shift'].some((name) => event[`${name}Key`] !== wants(name))) return;
    // In editable text, the shortcut may mean something else, such as italics.
    const at = event.composedPath()[0];
    if (at.isContentEditable || (!keys.length && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName))) return;
    event.preventDefault();
    this.toggle();
  }
}

for (const name of ATTRIBUTES) {
  Object.defineProperty(TurnwiseAgent.prototype, camel(name), {
    configurable: true,
    enumerable: true,
    get() { return this.getAttribute(name) ?? ''; },
    set(value) {
      if (name === 'src') scripted.set(this, `${value}`);
      if ((value ?? false) === false) this.removeAttribute(name);
      else this.setAttribute(name, Array.isArray(value) ? JSON.stringify(value) : value);
    },
  });
}

if (globalThis.customElements && !customElements.get(TAG)) customElements.define(TAG, TurnwiseAgent);

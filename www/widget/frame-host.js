// mode="iframe", the host's side: the panel is a document from the package's origin, and the host's page runs only this module
// and the launcher. Its policy then needs frame-src, but nothing for scripts, workers or WebAssembly.
import { h, livePage } from './dom.js';
import { fit } from './fit.js';
import { Layer } from './layer.js';
import { place } from './store.js';
import { dress } from './styles.js';

const PLAIN = ['provider', 'model', 'preset', 'maxTurns', 'label', 'heading', 'placeholder', 'greeting', 'suggestions', 'apiKey', 'headers', 'system', 'texts', 'language', 'storageKey', 'followUps', 'docsLivePage', 'skills'];
/** How long the frame may take to load, and how long to start once it has: a page of the browser's, in place of one that it refused, has loaded too. */
const PATIENCE_MS = 20_000;
const START_MS = 3_000;
const ADDRESSES = ['baseUrl', 'app', 'contactUrl'];

/** Fetches a page of this origin for the docs reader, without cookies and by GET only. */
async function read(address) {
  const url = new URL(address);
  if (url.origin !== location.origin) throw new Error('not a page of this site');
  const response = await fetch(url, { credentials: 'omit' });
  return { status: response.status, headers: [...response.headers], url: response.url, body: await response.arrayBuffer() };
}

export async function create({ element, root, pill, source, refused, say, close }) {
  if (refused) throw new Error(`the attribute src names another site, ${refused}; only a script may set that`);
  const absolute = (value) => (value ? new URL(value, document.baseURI).href : '');
  const store = place(element.storageKey);
  dress(root.getRootNode());
  const frame = document.createElement('iframe');
  const url = new URL('frame.html', source);
  const title = element.heading || element.label || 'Turnwise';
  Object.assign(frame, { src: url.href, title });
  const panel = h('section', { class: 'panel floating', part: 'panel', popover: 'manual' }, frame);
  const shell = h('dialog', { class: 'shell', role: 'dialog', 'aria-label': title }, panel);
  frame.allow = 'clipboard-write';
  // A page with an embedder policy refuses frames without one, except those that keep nothing from one page to the next.
  frame.credentialless = globalThis.crossOriginIsolated && !await fetch(url, { method: 'HEAD' }).then(({ headers }) => headers.has('cross-origin-embedder-policy'), () => false);
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads allow-top-navigation-by-user-activation');
  const { port1: port, port2: theirs } = new MessageChannel();
  const settings = () => ({
    ...Object.fromEntries(PLAIN.map((name) => [name, element[name]])), ...Object.fromEntries(ADDRESSES.map((name) => [name, absolute(element[name])])),
    docs: !element.docs || /^(auto|off)$/.test(element.docs) ? element.docs : absolute(element.docs), theme: root.dataset.theme, dir: root.dir,
  });
  let asked = 0;
  const asks = new Map();
  let hosted; // called with whether the frame accepts this page as its host
  let ready;
  let unfit = () => {};
  port.onmessage = async ({ data }) => {
    if (data.hosted !== undefined) hosted(data.hosted);
    else if (data.say) say(data.say, data.detail);
    else if (data.close) close();
    else if (data.busy !== undefined) pill?.toggleAttribute('data-busy', data.busy);
    else if (data.asked) {
      const { resolve, reject } = asks.get(data.asked);
      asks.delete(data.asked);
      if (data.error === undefined) resolve(data.ok);
      else reject(new Error(data.error));
    } else if (data.read) {
      const answer = await read(data.url).catch((error) => ({ error: error.message }));
      port.postMessage({ read: data.read, answer }, answer.body ? [answer.body] : []);
    }
  };
  const watch = new MutationObserver(() => port.postMessage({ settings: settings() }));
  watch.observe(root, { attributes: true });
  let timer;
  root.append(shell);
  const layer = new Layer(shell, { focus: () => frame.focus(), close });
  await new Promise((resolve, reject) => {
    const own = url.origin === location.origin ? "'self'" : url.origin;
    const patience = (ms) => { timer = setTimeout(() => reject(new Error(`${url.href} did not load; this page's policy must allow it (frame-src ${own}), and so must its own (frame-ancestors ${location.origin}); if this page has a Cross-Origin-Embedder-Policy, frame.html needs it, too, and from another origin also Cross-Origin-Resource-Policy: cross-origin`)), ms); };
    patience(PATIENCE_MS);
    frame.onload = () => {
      clearTimeout(timer);
      patience(START_MS);
    };
    hosted = (taken) => (taken ? resolve() : reject(new Error(`${url.href} does not allow this site: its turnwise-hosts must list ${location.origin}`)));
    addEventListener('message', ready = ({ source: from, origin, data }) => {
      if (from !== frame.contentWindow || origin !== url.origin || data?.turnwise !== 'ready') return;
      removeEventListener('message', ready);
      from.postMessage({ turnwise: 'host', settings: settings(), page: location.href, html: livePage(element) }, url.origin, [theirs]);
    });
  }).catch((error) => {
    console.error(`turnwise-agent: ${error.message}`);
    watch.disconnect();
    port.close();
    shell.remove();
    throw error;
  }).finally(() => {
    clearTimeout(timer);
    frame.onload = undefined;
    removeEventListener('message', ready);
  });
  return {
    show({ focus }) {
      if (!panel.classList.contains('open')) unfit = fit(panel);
      panel.classList.add('open');
      const enters = layer.show(focus);
      store.open('1');
      port.postMessage({ show: { focus: enters } });
    },
    hide() {
      unfit();
      panel.classList.remove('open');
      layer.hide();
      store.open('');
      port.postMessage({ hide: true });
    },
    get blocked() {
      return layer.blocked;
    },
    update: () => port.postMessage({ settings: settings() }),
    ask: (text) => new Promise((resolve, reject) => {
      asks.set(++asked, { resolve, reject });
      port.postMessage({ ask: asked, text });
    }),
    end() {
      unfit();
      layer.hide();
      watch.disconnect();
      port.close();
      shell.remove();
      for (const { reject } of asks.values()) reject(new Error('the <turnwise-agent> was removed'));
    },
  };
}

// mode="iframe", inside the frame: the same panel, with a port to the host's page instead of its element.
//
// The host controls this origin: it sets the model, receives every question and reads the conversation. So only the origins
// listed in frame.html may be the host, as reported by the browser for each message, never by the message itself.
import { mark, styles, wordsOf } from './embed.js';
import { inside } from './turnwise.js';
import { create } from './widget.js';

const listed = document.querySelector('meta[name=turnwise-hosts]')?.content.split(/\s+/) ?? [];
const mayHost = (origin) => origin === location.origin || (origin !== 'null' && listed.includes(origin));

addEventListener('message', async function first({ data, ports: [port], source, origin }) {
  if (source !== parent || data?.turnwise !== 'host') return;
  // Docs are read from the host's own origin, so `page` has to belong to it.
  if (!mayHost(origin) || new URL(data.page).origin !== origin) return void port?.postMessage({ hosted: false });
  removeEventListener('message', first);
  port.postMessage({ hosted: true });
  const holder = document.createElement('div');
  const shadow = holder.attachShadow({ mode: 'open' });
  const root = document.createElement('div');
  root.className = 'root';
  shadow.adoptedStyleSheets = [styles()];
  shadow.append(root);
  document.body.append(holder);
  const element = { mode: 'iframe' };
  const dress = (settings) => {
    // Keeps the conversations of different sites separate.
    Object.assign(element, settings, { storageKey: `${origin} ${settings.storageKey}` });
    root.dataset.theme = settings.theme;
    root.dir = settings.dir;
    document.documentElement.lang = settings.language;
  };
  dress(data.settings);
  let asked = 0;
  const reads = new Map();
  const here = new URL('.', import.meta.url).href;
  // A listed site chooses the addresses of docs and model. So that it cannot read or control this origin that way, only the
  // package itself is requested from it; and resources of the host's origin are fetched by the host's page.
  if (origin !== location.origin) {
    inside.frame((url) => new Promise((resolve, reject) => {
      reads.set(++asked, (answer) => (answer.error === undefined ? resolve(answer) : reject(new Error(answer.error))));
      port.postMessage({ read: asked, url });
    }), here);
  }
  const panel = create({
    element, root, mark, page: data.page, html: data.html, source: here, words: await wordsOf(data.settings.language, (name) => import(`${here}${name}.js`)),
    pill: { toggleAttribute: (_, busy) => port.postMessage({ busy }) },
    say: (name, detail) => port.postMessage({ say: name, detail }), close: () => port.postMessage({ close: true }),
  });
  port.onmessage = ({ data: told }) => {
    if (told.settings) {
      dress(told.settings);
      panel.update();
    } else if (told.show) panel.show(told.show);
    else if (told.hide) panel.hide();
    else if (told.read) reads.get(told.read)(told.answer);
    else if (told.ask) panel.ask(told.text).then((ok) => port.postMessage({ asked: told.ask, ok }), (error) => port.postMessage({ asked: told.ask, error: error.message }));
  };
});
parent.postMessage({ turnwise: 'ready' }, '*');

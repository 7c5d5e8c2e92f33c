// mode="iframe", inside the frame: the same panel, over a port to the host's page instead of its element.
//
// Whoever is the host drives this origin: it sets the model, hears every question and reads the conversation. So only the
// origins that frame.html lists may be one, by what the browser says of a message, never by what the message says.
import { mark, styles } from './embed.js';
import { inside } from './turnwise.js';
import { create } from './widget.js';

const listed = document.querySelector('meta[name=turnwise-hosts]')?.content.split(/\s+/) ?? [];
const mayHost = (origin) => origin === location.origin || (origin !== 'null' && listed.includes(origin));

addEventListener('message', function first({ data, ports: [port], source, origin }) {
  if (source !== parent || data?.turnwise !== 'host') return;
  // Docs are read from the host's own origin, so its page has to be of it.
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
    // What one site's visitors asked is not another's.
    Object.assign(element, settings, { storageKey: `${origin} ${settings.storageKey}` });
    root.dataset.theme = settings.theme;
    root.dir = settings.dir;
    document.documentElement.lang = settings.language;
  };
  dress(data.settings);
  let asked = 0;
  const reads = new Map();
  const here = new URL('.', import.meta.url).href;
  // Any listed site says where docs and model are. So that none of them can read or drive this origin by that, nothing but
  // the package itself is asked of it; and what is of the host's origin its own page fetches.
  if (origin !== location.origin) {
    inside.frame((url) => new Promise((resolve, reject) => {
      reads.set(++asked, (answer) => (answer.error === undefined ? resolve(answer) : reject(new Error(answer.error))));
      port.postMessage({ read: asked, url });
    }), here);
  }
  const panel = create({
    element, root, mark, page: data.page, html: data.html, source: here,
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

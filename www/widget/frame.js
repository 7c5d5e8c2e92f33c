// mode="iframe", inside the frame: the same panel, over a port to the host's page instead of its element.
import { mark, styles } from './embed.js';
import { create } from './widget.js';

addEventListener('message', function first({ data, ports: [port], source, origin }) {
  if (source !== parent || data?.turnwise !== 'host' || new URL(data.page).origin !== origin) return;
  removeEventListener('message', first);
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
  const panel = create({
    element, root, mark, page: data.page, html: data.html, source: new URL('.', import.meta.url).href,
    pill: { toggleAttribute: (_, busy) => port.postMessage({ busy }) },
    say: (name, detail) => port.postMessage({ say: name, detail }), close: () => port.postMessage({ close: true }),
    bridge: (url) => new Promise((resolve, reject) => {
      reads.set(++asked, (answer) => (answer.error === undefined ? resolve(answer) : reject(new Error(answer.error))));
      port.postMessage({ read: asked, url });
    }),
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

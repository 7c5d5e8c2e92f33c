// Exits from the panel: a record goes to the app or to a file, a visitor to a person.
//
// "Open in the app": the record goes to the app's window, whose origin the site has named, or to a file.
import { button, download, h, web } from './dom.js';
import { dress } from './part-styles.js';

export { HAND_OVER as TEXTS } from './part-texts.js';

const TRY_MS = 300;
const TRIES = 60;

export const save = (trajectory) => download(`turnwise-${JSON.parse(trajectory).run_id}.json`, trajectory, 'application/json');

/**
 * Opens `app` and posts { turnwise: 'trajectory', text } to it until it answers { turnwise: 'taken' }. Resolves with
 * whether it did. An app of another origin asks the user first: it answers 'asked', then 'taken' or 'refused'. Must be
 * called in a click handler.
 */
function handOver(app, trajectory) {
  const url = web(app);
  const there = url && window.open(url, '_blank');
  if (!there) return Promise.resolve(false);
  return new Promise((resolve) => {
    let tries = 0;
    let asked = false;
    const done = (taken) => {
      clearInterval(timer);
      removeEventListener('message', heard);
      resolve(taken);
    };
    const heard = (event) => {
      if (event.source !== there || event.origin !== url.origin) return;
      const word = event.data?.turnwise;
      if (word === 'asked') asked = true;
      if (word === 'taken' || word === 'refused') done(word === 'taken');
    };
    const timer = setInterval(() => {
      if (there.closed) return done(false);
      if (asked) return undefined; // the user may take any time to answer
      if (++tries > TRIES) return done(false);
      // Until the app's page has loaded, the window has another origin, and nothing is delivered.
      return there.postMessage({ turnwise: 'trajectory', text: trajectory }, url.origin);
    }, TRY_MS);
    addEventListener('message', heard);
  });
}

/** Hands the record over, or saves it as a file; `say` receives the name of the text for the result. */
export async function open(app, trajectory, say) {
  const taken = await handOver(app, trajectory);
  if (!taken) save(trajectory);
  say(taken ? 'handedOver' : 'notHandedOver');
}

/** Maximum length of a conversation in a URL. */
const MAX_SAID = 6_000;

/**
 * Asks whether to include the conversation, and opens `url`: a web address receives it as the parameter `conversation`, a
 * mail as its body. A page that cancels the event handles the contact itself.
 */
export function contact(column, t, { url, said, say, back }) {
  const go = (along) => {
    const conversation = along ? said.map(({ question, answer }) => `> ${question}\n\n${answer}`).join('\n\n') : '';
    back();
    if (!say({ url, conversation })) return;
    const there = new URL(url, document.baseURI);
    if (!/^(https?|mailto):$/.test(there.protocol)) return;
    if (conversation) there.searchParams.set(there.protocol === 'mailto:' ? 'body' : 'conversation', conversation.slice(-MAX_SAID));
    // Mail programs do not decode a plus as a space.
    window.open(there.protocol === 'mailto:' ? there.href.replaceAll('+', '%20') : there.href, '_blank', 'noopener');
  };
  if (!said.length) return go(false);
  dress(column);
  column.replaceChildren(h('div', { class: 'keys', part: 'contact' }, h('h3', {}, t('contactAsk')), h('p', {}, t('contactWhy')),
    h('div', { class: 'actions' }, button(t('contactWith'), () => go(true), { class: 'button main' }), button(t('contactWithout'), () => go(false)), button(t('back'), back))));
  return column.querySelector('button').focus();
}

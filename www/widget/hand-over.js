// "Open in the app": the record goes to the app's window, whose origin is the one the site named, or to a file.
import { download } from './dom.js';

const TRY_MS = 300;
const TRIES = 60;

export const save = (trajectory) => download(`turnwise-${JSON.parse(trajectory).run_id}.json`, trajectory, 'application/json');

/**
 * Opens `app` and posts { turnwise: 'trajectory', text } to it until it answers { turnwise: 'taken' }. Resolves with
 * whether it did. Has to be called in a click.
 */
function handOver(app, trajectory) {
  const url = new URL(app, document.baseURI);
  const there = window.open(url, '_blank');
  if (!there) return Promise.resolve(false);
  return new Promise((resolve) => {
    let tries = 0;
    const done = (taken) => {
      clearInterval(timer);
      removeEventListener('message', heard);
      resolve(taken);
    };
    const heard = (event) => event.source === there && event.origin === url.origin && event.data?.turnwise === 'taken' && done(true);
    const timer = setInterval(() => {
      if (there.closed || ++tries > TRIES) return done(false);
      // Before the app's page is there, the window is of another origin: nothing is delivered then.
      return there.postMessage({ turnwise: 'trajectory', text: trajectory }, url.origin);
    }, TRY_MS);
    addEventListener('message', heard);
  });
}

/** Hands it over, or saves it as a file; `say` gets the name of the words for what happened. */
export async function open(app, trajectory, say) {
  const taken = await handOver(app, trajectory);
  if (!taken) save(trajectory);
  say(taken ? 'handedOver' : 'notHandedOver');
}

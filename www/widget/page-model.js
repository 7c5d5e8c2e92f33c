// A model that lives in the page (the browser's built-in one, or a function of the host's) as the agent's worker sees it:
// the request goes there, and a text, a completion, an answer of a server, or chunks one by one come back.

let asked = 0;
const open = new Map();

/** A body that is read as it comes. */
function body(parts) {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** `complete` of a custom provider. Resolves with the first thing that came: the whole, or a stream of the rest. */
export function asInPage(post, request, { signal }) {
  const ask = ++asked;
  const chunks = [];
  let wake = () => {};
  let ended = false;
  let failure;
  const next = () => new Promise((resolve) => { wake = resolve; });
  async function* stream() {
    for (;;) {
      while (chunks.length) yield chunks.shift();
      if (failure) throw failure;
      if (ended) return;
      await next();
    }
  }
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      open.delete(ask);
      post({ event: 'model-abort', ask });
      failure = signal.reason ?? new Error('aborted');
      reject(failure);
      wake();
    }, { once: true });
    open.set(ask, (message) => {
      if (message.response) {
        resolve(new Response(message.response.body ? body(stream()) : null, message.response));
      } else if ('chunk' in message) {
        chunks.push(message.chunk);
        resolve(stream());
      } else {
        open.delete(ask);
        ended = true;
        if (message.error) failure = Object.assign(new Error(message.error.message), message.error);
        if (message.error) reject(failure);
        else if ('value' in message) resolve(message.value);
        else resolve(stream());
      }
      wake();
    });
    post({ event: 'model-ask', ask, request });
  });
}

export const heardFromPage = (message) => open.get(message.reply)?.(message);

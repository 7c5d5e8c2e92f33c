// The page's end of the agent's worker: starting it wherever the package is, asking it, and saying why it cannot start.

const START_MS = 20_000;

// One policy for the page, and it passes only what this module made. Named, so that a host can list it.
const made = new Set();
let policy;
function trusted(url) {
  if (!globalThis.trustedTypes) return url;
  policy ??= trustedTypes.createPolicy('turnwise', { createScriptURL: (given) => (made.has(given) ? given : 'about:blank#refused') });
  return policy.createScriptURL(url);
}

/** What a host's policy has to say so that this is not blocked: { directive, value }. */
export function needed({ directive, uri }, source) {
  const origin = (address) => {
    const { origin: of } = new URL(address, document.baseURI);
    return of === location.origin ? "'self'" : of;
  };
  const own = origin(source);
  const of = directive.replace(/-elem$/, '');
  if (of === 'worker-src' || of === 'child-src') return { directive: 'worker-src', value: own === "'self'" ? own : `blob: ${own}` };
  if (of === 'trusted-types' || of === 'require-trusted-types-for') return { directive: 'trusted-types', value: 'turnwise' };
  if (of === 'script-src' && /wasm|eval/.test(uri)) return { directive: of, value: "'wasm-unsafe-eval'" };
  if (of === 'script-src' && /^blob/.test(uri)) return { directive: 'worker-src', value: `blob: ${own}` };
  if (/^https?:/.test(uri)) return { directive: of, value: origin(uri) };
  return { directive: of, value: own };
}

/** What was blocked, by the words of an error (of Chromium and WebKit, of Firefox): in a worker the event can be missing. */
export const blockedBy = (error) => (/unsafe-eval|wasm-eval|WebAssembly.*blocked by CSP/.test(error.message) ? { directive: 'script-src', uri: 'wasm-eval' } : undefined);

/** Posts what a server answered, its body as it comes in. */
async function pour({ status, headers, body }, reply, signal) {
  if (!status) throw new TypeError('the answer cannot be read: its request was made without CORS');
  reply({ response: { status, headers: [...headers], body: Boolean(body) } });
  const reader = body?.getReader();
  signal.addEventListener('abort', () => reader?.cancel().catch(() => {}));
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) reply({ chunk: part.value });
  reply({});
}

export class Link {
  #source;
  #worker;
  #blob;
  #asked = new Map();
  #ids = 0;
  #loaded;
  #fail;
  #hear;
  #complete;
  #bridge;
  #open = new Map(); // requests to the page's own model
  #over = new AbortController();
  /** The last thing that the host's policy blocked. */
  blocked;

  /** `hear(event)` gets what the worker posts unasked. `complete(request, { signal })`: the page's own model, if it
   *  has one. `bridge(url)`: fetches a page of the host's, where this is a frame of another origin. */
  constructor(source, hear, complete, bridge) {
    this.#source = source;
    this.#bridge = bridge;
    this.#hear = hear;
    this.#complete = complete;
  }

  /** Resolves when the worker's script runs. Rejects with words for people. */
  start() {
    this.#loaded ??= new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(new Error(`it did not start within ${START_MS / 1000} s`)), START_MS);
      this.#over.signal.addEventListener('abort', () => clearTimeout(timer));
      this.#fail = (error) => {
        reject(error);
        for (const [, { reject: refuse }] of this.#asked) refuse(error);
        this.#asked.clear();
      };
      this.#asked.set('loaded', { resolve: () => { clearTimeout(timer); resolve(); }, reject });
      document.addEventListener('securitypolicyviolation', (event) => this.#violated({ directive: event.effectiveDirective, uri: event.blockedURI }), { signal: this.#over.signal });
      try {
        this.#worker = new Worker(trusted(this.#script()), { type: 'module', name: 'turnwise-agent' });
      } catch (error) {
        // The violation, which says more, is told a moment later.
        setTimeout(() => this.#fail(error), 50);
        return;
      }
      this.#worker.onmessage = ({ data }) => this.#heard(data);
      this.#worker.onerror = (event) => {
        event.preventDefault();
        setTimeout(() => this.#fail(new Error(event.message || `its script could not be loaded from ${this.#source}`)), 50);
      };
    });
    return this.#loaded;
  }

  /** A worker of another origin is refused, a blob that imports it is not. */
  #script() {
    const url = new URL('agent-worker.js', this.#source);
    let script = url.href;
    if (url.origin !== location.origin) {
      // A JSON string is a JavaScript string.
      script = this.#blob = URL.createObjectURL(new Blob([`import ${JSON.stringify(url.href)};`], { type: 'text/javascript' }));
    }
    made.add(script);
    return script;
  }

  #violated(blocked) {
    const { origin } = new URL(this.#source);
    // Others on the page violate policies too.
    const ours = blocked.uri.startsWith('blob') || blocked.uri.startsWith(origin) || /wasm|trusted-types/.test(blocked.uri) || /trusted-types/.test(blocked.directive);
    if (ours) this.blocked = blocked;
  }

  #heard(data) {
    if (data.id !== undefined) {
      const asked = this.#asked.get(data.id);
      this.#asked.delete(data.id);
      return data.error === undefined ? asked?.resolve(data.ok) : asked?.reject(new Error(data.error));
    }
    if (data.event === 'loaded') return this.#asked.get('loaded')?.resolve(this.#asked.delete('loaded'));
    if (data.event === 'blocked') this.blocked = data;
    else if (data.event === 'model-ask') return void this.#model(data);
    else if (data.event === 'fetch') return void this.#bridge(data.url).then((answer) => this.#worker?.postMessage({ fetched: data.ask, ...answer }), (error) => this.#worker?.postMessage({ fetched: data.ask, error: error.message }));
    else if (data.event === 'model-abort') return this.#open.get(data.ask)?.abort();
    return this.#hear(data);
  }

  /** A request to the page's own model; whatever it answers goes back in pieces that can be posted. */
  async #model({ ask, request }) {
    const abort = new AbortController();
    this.#open.set(ask, abort);
    const reply = (message) => this.#worker?.postMessage({ reply: ask, ...message });
    try {
      const answer = await this.#complete(request, { signal: abort.signal });
      if (answer instanceof Response) {
        await pour(answer, reply, abort.signal);
      } else if (typeof answer === 'object' && answer?.[Symbol.asyncIterator]) {
        for await (const chunk of answer) reply({ chunk });
        reply({});
      } else {
        reply({ value: answer });
      }
    } catch (error) {
      if (!abort.signal.aborted) reply({ error: { message: String(error?.message ?? error), name: error?.name, status: error?.status, retryAfterMs: error?.retryAfterMs } });
    }
    this.#open.delete(ask);
  }

  async call(what, message = {}) {
    await this.start();
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#worker.postMessage({ id, do: what, ...message });
    });
  }

  /** Says something that has no answer. */
  tell(what) {
    this.#worker?.postMessage({ do: what });
  }

  end() {
    this.#over.abort();
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const [, abort] of this.#open) abort.abort();
    for (const [id, { reject }] of this.#asked) if (id !== 'loaded') reject(new Error('ended'));
    this.#asked.clear();
    if (this.#blob) URL.revokeObjectURL(this.#blob);
  }
}

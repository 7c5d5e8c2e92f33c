// Starts the engine in a worker of the page, wherever the package is served from and whatever the page's policy is.
import { wrapped } from './assets';
import type { Script } from './assets';
import type { WorkerListener, WorkerPort } from './link';
import { trustedUrl } from './trusted';

/** The directive of a policy that blocked something, and the value that it has to allow. */
export interface Need {
  directive: string;
  value: string;
}

/** Returns what the host's policy has to allow. `source`: the URL of the package. */
export function needed({ directive, uri }: { directive: string; uri: string }, source: string): Need {
  const origin = (address: string) => {
    const { origin: of } = new URL(address, location.href);
    return of === location.origin ? '\'self\'' : of;
  };
  const own = origin(source);
  const of = directive.replace(/-elem$/, '');
  if (of === 'worker-src' || of === 'child-src') return { directive: 'worker-src', value: own === '\'self\'' ? own : `blob: ${own}` };
  if (of === 'trusted-types' || of === 'require-trusted-types-for') return { directive: 'trusted-types', value: 'turnwise' };
  if (of === 'script-src' && /wasm|eval/.test(uri)) return { directive: of, value: '\'wasm-unsafe-eval\'' };
  if (of === 'script-src' && uri.startsWith('blob')) return { directive: 'worker-src', value: `blob: ${own}` };
  return { directive: of, value: /^https?:/.test(uri) ? origin(uri) : own };
}

/** Recognized by the error's message (Chromium and WebKit, Firefox): in a worker the event can be missing. */
export const blockedBy = (message: string) => (/unsafe-eval|wasm-eval|WebAssembly.*blocked by CSP/.test(message) ? { directive: 'script-src', uri: 'wasm-eval' } : undefined);

let last: Need | undefined;
/** Returns what the page's policy blocked most recently since the engine started, including non-fatal violations such as a request. */
export const denied = () => last;

/** How long to wait for the violation report, which says more than the error and arrives a moment later, or more on a busy machine. */
const PATIENCE_MS = 250;

export function spawn({ hear, fail }: WorkerListener, { url, classic, wrap = url.origin !== globalThis.origin }: Script, name = 'turnwise-engine'): WorkerPort {
  let blocked: { directive: string; uri: string } | undefined;
  last = undefined;
  // Other scripts on the page may violate policies, too.
  const note = (directive: string, uri: string) => {
    if (/^blob|wasm|trusted-types/.test(uri) || uri.startsWith(url.origin) || directive.includes('trusted-types')) blocked = { directive, uri };
  };
  const violated = (event: SecurityPolicyViolationEvent) => note(event.effectiveDirective, event.blockedURI);
  const explain = (message: string) => {
    blocked ??= blockedBy(message);
    const need = blocked && needed(blocked, url.href);
    const words = need ? `${message} (the page's Content-Security-Policy has to allow ${need.value} in ${need.directive})` : message;
    return Object.assign(new Error(words), { blocked: need });
  };
  const fails = (message: string) => setTimeout(() => fail(explain(message)), PATIENCE_MS);
  globalThis.document?.addEventListener('securitypolicyviolation', violated);
  let wrapper: string | undefined;
  const cleanUp = () => {
    globalThis.document?.removeEventListener('securitypolicyviolation', violated);
    if (wrapper) URL.revokeObjectURL(wrapper);
  };
  let worker: Worker | undefined;
  try {
    // Browsers refuse a worker from another origin.
    if (wrap) wrapper = wrapped(url.href, classic);
    worker = new Worker(trustedUrl(wrapper ?? url.href), { type: classic ? 'classic' : 'module', name });
    worker.onmessage = ({ data }) => hear(data);
    worker.onmessageerror = () => fails('it posted a message that cannot be read');
    worker.onerror = (event) => {
      event.preventDefault();
      // Vite up to 7 moves packages away from their workers in development.
      const hint = url.pathname.includes('/.vite/deps/') ? "add optimizeDeps: { exclude: ['turnwise'] } to vite.config"
        : globalThis.origin === 'null' ? 'the sandbox of this frame needs allow-same-origin' : 'if this page has a Cross-Origin-Embedder-Policy, the script needs it, too';
      fails(event.message || `its script could not be loaded from ${url.href} (${hint})`);
    };
  } catch (error) {
    fails(String((error as Error).message));
  }
  return {
    post: (data, transfer) => worker?.postMessage(data, transfer),
    end: () => { worker?.terminate(); cleanUp(); },
    blocked: (directive, uri) => {
      last = needed({ directive, uri }, url.href);
      note(directive, uri);
    },
    explain,
  };
}

// The page's worker in which the engine runs. It starts the module and queues messages until then. Anywhere else it
// does nothing: turnwise/core and the Node.js thread (thread.ts) import from here.
import { plain, scriptOf, wrapped, written } from './assets';
import init, { Port } from 'turnwise-glue';
import type { MakeWorker } from 'turnwise-glue';

export { Port, init };

/** Name given to the worker when it is started: a page's own worker that imports this file is not an engine worker. */
const NAME = 'turnwise-engine';

export type Send = (data: unknown, transfer: ArrayBuffer[]) => void;

/** The URL of the tool worker, unless the page sets another. */
const toolWorker = () => written(scriptOf('worker.js', () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'turnwise-tools' })));

/** Serves one page; the returned function handles the page's posts. `tools`: the URL of the tool worker. */
export function serve(send: Send, start: () => Promise<unknown>, makeWorker: MakeWorker, tools: string): (data: unknown) => void {
  let port: Port | undefined;
  const waiting: unknown[] = [];
  const post = (text: string, parts: (string | Blob | Uint8Array)[]) => {
    const transfer = parts.flatMap((part) => (part instanceof Uint8Array ? [part.buffer as ArrayBuffer] : []));
    send(parts.length ? [text, ...parts] : text, transfer);
  };
  send(JSON.stringify([{ loading: {} }]), []);
  start().then(() => {
    port = new Port(post, tools, makeWorker);
    for (const data of waiting.splice(0)) port.receive(data);
  }).catch((error: unknown) => send(JSON.stringify([{ fatal: { message: `its module did not start: ${error}` } }]), []));
  return (data) => {
    if (port) port.receive(data);
    else waiting.push(data);
  };
}

function inPage(scope: Scope) {
  // Workers created from blobs inherit the host's policy. This policy passes only URLs that the engine asked for.
  const made = new Set<string>();
  let policy: { createScriptURL(url: string): unknown } | undefined;
  try {
    policy = (globalThis as any).trustedTypes?.createPolicy('turnwise', { createScriptURL: (url: string) => (made.has(url) ? url : 'about:blank#refused') });
  } catch {
    // The host's `trusted-types` does not list it: starting a worker fails, and the violation says what to add.
  }
  const makeWorker = (url: string, name: string) => {
    const plainly = plain(url);
    const classic = plainly !== url;
    // The engine started from a blob in an isolated page: so must its workers, see `isolated` in engine.ts.
    const script = globalThis.crossOriginIsolated && location.protocol === 'blob:' && !plainly.startsWith('blob:') ? wrapped(plainly, classic) : plainly;
    made.add(script);
    return new Worker(policy ? policy.createScriptURL(script) as string : script, { type: classic ? 'classic' : 'module', name });
  };
  const send: Send = (data, transfer) => scope.postMessage(data, transfer);
  scope.addEventListener('securitypolicyviolation', ({ effectiveDirective: directive, blockedURI: uri }: SecurityPolicyViolationEvent) => send(JSON.stringify([{ blocked: { directive, uri } }]), []));
  const receive = serve(send, () => init(), makeWorker as unknown as MakeWorker, toolWorker());
  scope.onmessage = ({ data }) => receive(data);
}

interface Scope {
  name: string;
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(data: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(type: 'securitypolicyviolation', then: (event: SecurityPolicyViolationEvent) => void): void;
}

if ('DedicatedWorkerGlobalScope' in globalThis) {
  const scope = globalThis as unknown as Scope;
  if (scope.name === NAME) inPage(scope);
}

// The worker in which the engine runs: a dedicated worker of a page, or a thread of Node.js. It starts the module, and keeps
// what is posted meanwhile. Anywhere else it does nothing: turnwise/core takes the module from here.
import { scriptOf, written } from './assets';
import init, { Port } from 'turnwise-glue';
import type { MakeWorker } from 'turnwise-glue';

export { Port, init };

/** Set by whoever starts it: a worker of the page's own that imports this file is none of ours. */
const NAME = 'turnwise-engine';

type Send = (data: unknown, transfer: ArrayBuffer[]) => void;

/** Where the worker of tools is, unless the page says otherwise. */
const toolWorker = () => written(scriptOf('worker.js', () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'turnwise-tools' })));

/** Serves one page; what it returns takes the page's posts. */
function serve(send: Send, start: () => Promise<unknown>, makeWorker?: MakeWorker): (data: unknown) => void {
  let port: Port | undefined;
  const waiting: unknown[] = [];
  const post = (text: string, parts: (string | Blob | Uint8Array)[]) => {
    const transfer = parts.flatMap((part) => (part instanceof Uint8Array ? [part.buffer as ArrayBuffer] : []));
    send(parts.length ? [text, ...parts] : text, transfer);
  };
  send(JSON.stringify([{ loading: {} }]), []);
  start().then(() => {
    port = new Port(post, toolWorker(), makeWorker);
    for (const data of waiting.splice(0)) port.receive(data);
  }).catch((error: unknown) => send(JSON.stringify([{ fatal: { message: `its module did not start: ${error}` } }]), []));
  return (data) => {
    if (port) port.receive(data);
    else waiting.push(data);
  };
}

function inPage(scope: Scope) {
  // Workers made from blobs have the host's policy too. What passes it is what the engine asked for, and nothing else.
  const made = new Set<string>();
  let policy: { createScriptURL(url: string): unknown } | undefined;
  try {
    policy = (globalThis as any).trustedTypes?.createPolicy('turnwise', { createScriptURL: (url: string) => (made.has(url) ? url : 'about:blank#refused') });
  } catch {
    // The host's `trusted-types` does not name it: starting a worker fails, and the violation says what to add.
  }
  const makeWorker = (url: string, name: string) => {
    made.add(url);
    return new Worker(policy ? policy.createScriptURL(url) as string : url, { type: url.endsWith('#classic') ? 'classic' : 'module', name });
  };
  const send: Send = (data, transfer) => scope.postMessage(data, transfer);
  scope.addEventListener('securitypolicyviolation', ({ effectiveDirective: directive, blockedURI: uri }: SecurityPolicyViolationEvent) => send(JSON.stringify([{ blocked: { directive, uri } }]), []));
  const receive = serve(send, () => init(), makeWorker as unknown as MakeWorker);
  scope.onmessage = ({ data }) => receive(data);
}

/** Not imported, so that bundlers for pages do not stumble over it. */
const builtIn: BuiltIn = (name: string) => (host.process as { getBuiltinModule(name: string): any }).getBuiltinModule(name);
interface BuiltIn {
  (name: 'node:worker_threads'): typeof import('node:worker_threads');
  (name: 'node:fs/promises'): typeof import('node:fs/promises');
}

function inNode() {
  const { Worker: Thread, parentPort, workerData } = builtIn('node:worker_threads');
  // In an object, where bundlers add what is theirs.
  if (!parentPort || workerData?.turnwise !== NAME) return;
  const { readFile } = builtIn('node:fs/promises');
  // What the engine uses of a worker, over a thread. It keeps nothing alive: the agent's thread lives while the page wants it.
  const makeWorker: MakeWorker = (url, name) => {
    const thread = new Thread(new URL(url), { name });
    const worker: ReturnType<MakeWorker> = {
      onmessage: null, onerror: null, onmessageerror: null,
      postMessage: (message) => thread.postMessage(message),
      terminate: () => void thread.terminate(),
    };
    thread.on('message', (data: unknown) => worker.onmessage?.({ data }));
    thread.on('messageerror', (error: unknown) => worker.onmessageerror?.({ message: String(error) }));
    thread.on('error', (error: Error) => worker.onerror?.({ message: String(error?.message ?? error) }));
    thread.unref(); // listening has made it count
    return worker;
  };
  const port = parentPort;
  const module = readFile(new URL('./agent_bg.wasm', import.meta.url));
  port.on('message', serve((data, transfer) => port.postMessage(data, transfer), async () => init({ module_or_path: await module }), makeWorker));
}

interface Scope {
  name: string;
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(data: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(type: 'securitypolicyviolation', then: (event: SecurityPolicyViolationEvent) => void): void;
}

const host = globalThis as unknown as { DedicatedWorkerGlobalScope?: unknown; process?: { versions?: { node?: string } } };
if (host.DedicatedWorkerGlobalScope) {
  const scope = globalThis as unknown as Scope;
  if (scope.name === NAME) inPage(scope);
} else if (host.process?.versions?.node && globalThis.navigator?.userAgent !== 'Cloudflare-Workers') {
  inNode();
}

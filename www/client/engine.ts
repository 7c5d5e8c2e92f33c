// The engine, shared by all of the page's agents, sites and requests: one connection, and the handlers of its messages.
import { scriptOf } from './assets';
import type { Script } from './assets';
import { Host } from './host';
import { Link } from './link';
import type { Part, Start } from './link';
import type { AgentId, AgentFileChange, Heard, SiteId } from './protocol';
import { spawn } from './spawn';

/** Used if there is no page: Node.js has its own entry, which replaces `start` when it loads. */
const elsewhere: Start = async (ear) => {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  if (!process?.versions?.node) throw new Error('there are no workers here: turnwise/core runs the engine in this thread');
  // Assembled at run time, so that bundlers for pages do not follow it.
  const entry = ['./node', 'js'].join('.');
  const { thread } = await import(entry) as { thread: Start };
  return thread(ear);
};

const script = () => scriptOf('engine-worker.js', () => new Worker(new URL('./engine-worker.js', import.meta.url), { type: 'module', name: 'turnwise-engine' }));

/** An isolated page starts a worker only if its script is sent with the page's Cross-Origin-Embedder-Policy; a blob has it. */
async function isolated(of: Script): Promise<Script> {
  // A frame that is credentialless has no such policy.
  if (of.url.origin !== location.origin || (globalThis as { credentialless?: boolean }).credentialless) return of;
  const answer = await fetch(of.url, { method: 'HEAD' }).catch(() => undefined);
  return { ...of, wrap: answer?.ok && !answer.headers.has('cross-origin-embedder-policy') };
}

const start: Start = (ear) => {
  if (typeof Worker !== 'function' || !globalThis.location) return elsewhere(ear);
  return globalThis.crossOriginIsolated ? isolated(script()).then((of) => spawn(ear, of)) : spawn(ear, script());
};

const writers = new Map<AgentId, (changes: AgentFileChange[], blob: () => Blob) => void>();
const sites = new Map<SiteId, (message: Heard['site']) => void>();

const host: Host = new Host(() => link);

export const link: Link = new Link(start, {
  call: (message, parts) => host.call(message, 'complete' in message.what ? parts.shift() as Uint8Array : undefined),
  answered: (message) => host.answered(message),
  abort: ({ call }) => host.abort(call),
  wrote: ({ agent, files }, parts: Part[]) => {
    const blob = () => parts.shift() as Blob;
    const write = writers.get(agent);
    if (write) write(files, blob);
    else files.forEach(({ there }) => there && blob());
  },
  site: (message) => sites.get(message.site)?.(message),
  lost: () => host.abortAll(),
});

export { host, sites, writers };

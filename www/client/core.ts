// `turnwise/core`: the package for hosts without workers, such as Cloudflare Workers. The same API; the engine and its tools
// run in the only thread, in modules that the host has compiled.
import { Port, init as start } from './engine-worker';
import { startBy } from './index';
import { inThread } from './in-thread';
import type { Start } from './link';

export * from './index';

type Module = WebAssembly.Module | BufferSource;

let modules: { agent: Module; worker?: Module } | undefined;
let started: Promise<unknown> | undefined;

const engine: Start = async ({ hear, fail }) => {
  if (!modules) throw new Error('there are no workers here: call init({ agent, worker }) of turnwise/core first');
  await (started ??= start({ module_or_path: modules.agent }));
  const port = new Port((text, parts) => hear(parts.length ? [text, ...parts] : text), 'worker.js', modules.worker && inThread(modules.worker));
  return {
    post: (data) => {
      try {
        port.receive(data);
      } catch (error) {
        fail(error as Error); // a trap: the module's state can no longer be trusted
      }
    },
  };
};

/** `agent`: `agent_bg.wasm`; `worker`: `worker_bg.wasm`, without which there are no tools. Compiled modules, or their bytes. */
export default async function init(given: { agent: Module; worker?: Module }): Promise<void> {
  modules ??= given;
  await (started ??= start({ module_or_path: modules.agent }));
}

startBy(engine, false);

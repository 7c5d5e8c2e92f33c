export * from './turnwise.js';

/**
 * `turnwise/core`: for hosts without workers, such as Cloudflare Workers. The engine and its tools run in the only thread:
 * calls run one after the other, and one that never returns cannot be terminated.
 *
 * @example
 * await init({ agent, worker });
 */
export interface Modules {
  /** `agent_bg.wasm`: the compiled module, or its bytes if the host may compile them. */
  agent: WebAssembly.Module | ArrayBuffer | ArrayBufferView;
  /** `turnwise/worker_bg.wasm`, likewise: all that the tools' worker can do, as one module (the file `worker-whole_bg.wasm`). Without it, built-in tools, argument validation and functions on records are refused. */
  worker?: WebAssembly.Module | ArrayBuffer | ArrayBufferView;
}

/**
 * Starts the engine. Call it once, before anything else.
 *
 * @example
 * import agent from 'turnwise/agent_bg.wasm';
 * import worker from 'turnwise/worker_bg.wasm';
 * await init({ agent, worker });
 */
export default function init(modules: Modules): Promise<void>;

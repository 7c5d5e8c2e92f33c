export * from './turnwise.js';

/**
 * `turnwise/core`: for hosts without workers, such as Cloudflare Workers. The engine and its tools run in the one thread that
 * there is: calls run one after the other, and one that never comes back cannot be ended.
 */
export interface Modules {
  /** `agent_bg.wasm`: the compiled module, or its bytes where those may be compiled. */
  agent: WebAssembly.Module | BufferSource;
  /** `worker_bg.wasm`, likewise. Without it built-in tools, checks of arguments and questions about records are refused. */
  worker?: WebAssembly.Module | BufferSource;
}

/** Starts the engine. Needed once, before anything else. */
export default function init(modules: Modules): Promise<void>;

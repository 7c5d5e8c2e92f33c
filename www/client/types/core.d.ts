export * from './turnwise.js';

/**
 * `turnwise/core`: for hosts without workers, such as Cloudflare Workers. The engine and its tools run in the only thread:
 * calls run one after the other, and one that never returns cannot be terminated.
 */
export interface Modules {
  /** `agent_bg.wasm`: the compiled module, or its bytes if the host may compile them. */
  agent: WebAssembly.Module | ArrayBuffer | ArrayBufferView;
  /** `worker_bg.wasm`, likewise. Without it, built-in tools, argument validation and functions on records are refused. */
  worker?: WebAssembly.Module | ArrayBuffer | ArrayBufferView;
}

/** Starts the engine. Call it once, before anything else. */
export default function init(modules: Modules): Promise<void>;

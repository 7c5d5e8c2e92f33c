/**
 * Runs tools in the thread of the agent, for hosts without workers. `compiled`: the `WebAssembly.Module` of
 * `worker_bg.wasm`, or its bytes where those may be compiled.
 */
export function useThread(compiled: WebAssembly.Module | BufferSource): void;

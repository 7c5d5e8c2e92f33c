// The real llama.cpp server of requirements.txt.
import { missing, withPython } from './python.mjs';

export { missing };

/** Runs `body(baseUrl)` beside the server. Loading the model takes some seconds. */
export const withLlama = (body) => withPython('llama_server.py', [], (address) => body(`${address}/v1`));

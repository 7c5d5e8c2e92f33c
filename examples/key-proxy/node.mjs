// The proxy in Node.js: `app.use('/ask', proxy(process.env))` in Express, or http.createServer(proxy(process.env)). Limits count
// in this process. With QUESTIONS_FILE, questions are appended to that file, as JSON lines.
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { send as ask } from './ask-node.mjs';
import { inMemory, refuse, serve } from './core.mjs';

/** Requests with other methods cannot all be expressed as a `Request`. */
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST'];

/** `meters`: others than those in memory, such as Redis', if several processes share the limits. */
export function proxy(env, { meters = inMemory() } = {}) {
  const questions = { add: (report) => (env.QUESTIONS_FILE ? appendFile(env.QUESTIONS_FILE, `${JSON.stringify(report)}\n`) : console.log(JSON.stringify(report))) };
  // Nothing may be thrown here: Node.js ends the process if an error of a request is not handled.
  return async (req, res) => {
    const left = new AbortController();
    for (const stream of [req, res]) stream.on('error', () => left.abort());
    res.on('close', () => left.abort());
    try {
      await send(await answered(req, left.signal), res, left.signal);
      req.resume(); // what was not read of a request that was refused, so that the next one on this connection is found
    } catch (error) {
      // A visitor who left, a model that broke off, or a request that cannot be read.
      if (left.signal.aborted || res.headersSent) return void res.destroy();
      console.error(`key proxy: ${error?.name}`);
      res.writeHead(400).end();
    }
  };

  function answered(req, signal) {
    if (!METHODS.includes(req.method)) return refuse(405, 'method_not_allowed', 'There is POST /v1/chat/completions here, nothing else.', { allow: 'POST, OPTIONS' });
    // Express knows the visitor's address behind a proxy of yours if `trust proxy` is set.
    return serve(toRequest(req, signal), { env, meters, questions, send: ask, address: req.ip ?? req.socket.remoteAddress });
  }
}

async function send(response, res, signal) {
  res.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const part of response.body ?? []) if (!res.write(part)) await once(res, 'drain', { signal });
  res.end();
}

/** The request, whatever its first line is: only the path of the target counts, so no target names another host or a user. */
function toRequest(req, signal) {
  const target = req.originalUrl ?? req.url;
  const url = `http://localhost${target.startsWith('/') ? '' : '/'}${target}`;
  const headers = ['origin', 'authorization'].filter((name) => req.headers[name]).map((name) => [name, req.headers[name]]);
  return new Request(url, { method: req.method, headers, signal, ...(req.method === 'POST' && { body: bodyOf(req), duplex: 'half' }) });
}

/** The body; express.json() and the like may have read it before. */
function bodyOf(req) {
  // The connection stays, for the answer to a request that is too long to be read.
  if (req.body === undefined) return ReadableStream.from(req.iterator({ destroyOnReturn: false }));
  return typeof req.body === 'string' || req.body instanceof Uint8Array ? req.body : JSON.stringify(req.body);
}

// The proxy in Node.js: `app.use('/ask', proxy(process.env))` in Express, or http.createServer(proxy(process.env)). Limits count
// in this process. With QUESTIONS_FILE, questions are appended to that file, as JSON lines.
import { appendFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { inMemory, serve } from './core.mjs';

/** `meters`: others than those in memory, such as Redis', if several processes share the limits. */
export function proxy(env, { meters = inMemory() } = {}) {
  const questions = { add: (report) => (env.QUESTIONS_FILE ? appendFile(env.QUESTIONS_FILE, `${JSON.stringify(report)}\n`) : console.log(JSON.stringify(report))) };
  return async (req, res) => {
    const left = new AbortController();
    res.on('close', () => left.abort());
    const response = await serve(toRequest(req, left.signal), {
      // Express knows the visitor's address behind a proxy of yours if `trust proxy` is set.
      env, meters, questions, address: req.ip ?? req.socket.remoteAddress,
    });
    res.writeHead(response.status, Object.fromEntries(response.headers));
    if (!response.body) return void res.end();
    // A visitor who leaves, or a model that breaks off, ends this without an error of ours.
    Readable.fromWeb(response.body).on('error', () => res.destroy()).pipe(res);
  };
}

function toRequest(req, signal) {
  const url = new URL(req.originalUrl ?? req.url, 'http://localhost');
  const headers = Object.entries(req.headersDistinct).flatMap(([name, values]) => values.map((value) => [name, value]));
  if (req.method === 'GET' || req.method === 'HEAD') return new Request(url, { method: req.method, headers, signal });
  // express.json() may have read the body before.
  const body = req.body === undefined ? Readable.toWeb(req) : JSON.stringify(req.body);
  return new Request(url, { method: req.method, headers, body, duplex: 'half', signal });
}

// A model server that fails in whatever way a test asks for. It reads requests as HTTP and answers with raw bytes, so that
// it can stop, cut off or send nonsense anywhere.
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-expose-headers': '*',
};
// Never a second request on one connection: a browser silently retries on a new connection when a reused one is cut.
const SHUT = { connection: 'close' };

/** The head of a response. `cors: false` omits the headers without which a page of another origin may not read it. */
export function head(status, headers = {}, { cors = true } = {}) {
  const all = { ...(cors ? CORS : {}), ...SHUT, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

export const STREAM = { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' };

/** One chunk of a body with chunked encoding. */
export const chunk = (bytes) => Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);
/** By then the page has read what was written, even on a busy machine: nothing tells the server when it has. */
const ARRIVED = 600;
export const LAST = '0\r\n\r\n';

/** Writes a response: `write` bytes, then `end` it properly, `cut` the connection, or `hold` it open. */
class Wire {
  constructor(socket) {
    this.socket = socket;
    this.open = true;
    this.closed = new Promise((resolve) => socket.once('close', () => { this.open = false; resolve(); }));
  }

  write(...parts) {
    for (const part of parts) if (this.open) this.socket.write(part);
  }

  end() {
    this.socket.end();
  }

  /** Resets the connection, but only after the written data has left, so that the other side gets it before the reset. */
  async cut() {
    await sleep(ARRIVED);
    this.socket.resetAndDestroy();
  }

  /** Ends too early, but only after the written data has been read: a browser discards what it has not passed on yet. */
  async stopShort() {
    await sleep(ARRIVED);
    this.socket.end();
  }

  /** Writes `part` every `ms` until the other side hangs up. */
  async drip(part, ms) {
    while (this.open) {
      this.write(typeof part === 'function' ? part() : part);
      await Promise.race([sleep(ms), this.closed]);
    }
  }
}

/**
 * Runs `body({ origin, asked })`. A request to `/{id}/…` is answered by `answers[id](wire, request)`, where `request.nth`
 * counts model requests from 1. `asked(id)` returns the requests so far: method, url, headers. Preflights are answered, but
 * not counted.
 */
export async function withFaults(answers, body) {
  const seen = new Map();
  const asked = (id) => seen.get(id) ?? [];
  const server = http.createServer(async (request, response) => {
    const id = request.url.split('/')[1];
    const answer = answers[id];
    if (request.method === 'OPTIONS') return response.writeHead(204, { ...(answer?.preflight === false ? {} : CORS), ...SHUT }).end();
    for await (const ignored of request);
    const { method, url, headers } = request;
    seen.set(id, [...asked(id), { method, url, headers }]);
    const wire = new Wire(request.socket);
    if (!answer) return wire.write(head(404, { 'content-length': 0 }));
    return answer(wire, { nth: asked(id).filter((other) => other.method === 'POST').length, origin: `http://${request.headers.host}` });
  });
  server.on('clientError', (error, socket) => socket.destroy());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body({ origin: `http://127.0.0.1:${server.address().port}`, asked });
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Returns a port of this machine that nobody listens on, nor will while this process lives: an open connection occupies it. */
export async function deadPort() {
  const server = net.createServer((socket) => socket.unref()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const held = net.connect(server.address().port, '127.0.0.1');
  await once(held, 'connect');
  server.unref();
  held.unref();
  return held.localPort;
}

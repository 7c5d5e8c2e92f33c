// The real llama.cpp server pinned in requirements.txt.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { missing, withPython } from './python.mjs';

export { missing };

/** Text that arrives within a frame is reported to the page as one chunk, and a small model may finish within one or two frames. */
const PACE_MS = 60;

/** Runs `body(address)` with a proxy to that server, which passes its responses on, streamed ones event by event. */
async function withPace(target, body) {
  const server = http.createServer((request, response) => {
    const { method, headers } = request;
    const onward = http.request(new URL(request.url, target), { method, headers }, async (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      const streams = /event-stream/.test(answer.headers['content-type']);
      let rest = '';
      for await (const part of answer.setEncoding('utf8')) {
        const events = (rest + part).split(/(?<=\n\n)/);
        rest = events.pop();
        for (const event of events) {
          if (response.destroyed) return;
          response.write(event);
          if (streams) await sleep(PACE_MS);
        }
      }
      response.end(rest);
    });
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}`);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Runs `body(baseUrl)` with the server running. Loading the model takes some seconds. */
export const withLlama = (body) => withPython('llama_server.py', [], (address) => withPace(address, (paced) => body(`${paced}/v1`)));

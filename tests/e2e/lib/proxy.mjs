// A site and a server behind one origin, for servers without CORS: like a page's own backend.
import http from 'node:http';

/**
 * Runs `body(url)`. `/{prefix}/…` goes to `target` without the prefix, everything else to `site`; bytes are passed on as
 * they arrive, and a connection that breaks on one side breaks on the other. No connection is reused: a browser would
 * silently repeat a request that an old one answers with 408.
 */
export async function withProxy(site, { prefix, target }, body) {
  const agent = new http.Agent({ keepAlive: false });
  const server = http.createServer((request, response) => {
    const mine = request.url.startsWith(`/${prefix}/`);
    const to = new URL(mine ? request.url.slice(prefix.length + 1) : request.url, mine ? target : site);
    const { host, connection, ...headers } = request.headers;
    const onward = http.request(to, { method: request.method, headers, agent }, (answer) => {
      const { connection: theirs, 'transfer-encoding': framing, ...rest } = answer.headers;
      response.writeHead(answer.statusCode, { ...rest, connection: 'close' });
      response.flushHeaders();
      answer.pipe(response);
      answer.once('error', () => response.destroy());
      answer.once('aborted', () => response.destroy());
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

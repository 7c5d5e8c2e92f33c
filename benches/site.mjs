// Serves the measured pages like a static host, with caching in the browser, and records the requests.
import { promises as fs } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.wasm': 'application/wasm', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml' };

/**
 * `folders`: prefix to folder, the longest prefix first; `pages`: path to HTML, which callers may extend later.
 * Resolves with { url, pages, file, asked, close }: `file(path)` returns what would be served; `asked` has { pathname, dest,
 * body } of each answered request, where `dest` is its destination according to the browser (`worker`, `script`, …).
 */
export async function serve(folders) {
  const pages = {};
  const asked = [];
  const find = async (pathname) => {
    if (pathname in pages) return Buffer.from(pages[pathname]);
    const [prefix, folder] = Object.entries(folders).find(([mount]) => pathname.startsWith(mount));
    const name = path.posix.normalize(pathname.slice(prefix.length - 1));
    return fs.readFile(path.join(folder, name.endsWith('/') ? `${name}index.html` : name)).catch(() => undefined);
  };
  const server = http.createServer(async (request, response) => {
    const pathname = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const body = await find(pathname);
    if (body === undefined) return response.writeHead(404, { 'cache-control': 'no-store' }).end();
    asked.push({ pathname, dest: request.headers['sec-fetch-dest'], body });
    return response.writeHead(200, { 'content-type': TYPES[path.extname(pathname) || '.html'] ?? 'text/plain', 'content-length': body.length, 'cache-control': 'max-age=86400' }).end(body);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}/`, pages, asked, file: find,
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

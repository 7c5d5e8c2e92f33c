// A static file server on loopback for `make run`, the end-to-end tests and the benchmarks.
// Deliberately without caching, directory listings or anything else that a plain static host lacks.
import { createReadStream, promises as fs } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ts': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Returns the file for a URL path, or `undefined` if it lies outside the folder. */
function locate(root, pathname) {
  const file = path.join(root, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
  return file === root || file.startsWith(root + path.sep) ? file : undefined;
}

/**
 * Serves `root`, and each folder of `mounts` ({ '/prefix/': folder }) under its prefix; a mount may also be one file
 * ({ '/some/name.js': file }).
 * `fallback` ({ '/prefix/': file }) names the file that is answered, as if it were there, where the folder of that prefix has
 * none: the server of an app that renders its own routes.
 * `seen(pathname)` is told of each request. A file that is missing is looked for again once `built` has resolved.
 * Resolves with { url, close }; `port` 0 selects a free one. Rejects if the port is in use.
 */
export async function serve(root, { port = 0, host = '127.0.0.1', mounts = {}, fallback = {}, seen = () => {}, built } = {}) {
  const folders = [...Object.entries(mounts), ['/', root]].map(([prefix, folder]) => [prefix, path.resolve(folder)]);
  const server = http.createServer(async (request, response) => {
    const refuse = (status) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${status}\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
    let pathname;
    try {
      pathname = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    } catch {
      return refuse(400);
    }
    seen(pathname);
    const [prefix, folder] = folders.find(([mount]) => (mount.endsWith('/') ? pathname.startsWith(mount) : pathname === mount));
    let file = prefix.endsWith('/') ? locate(folder, pathname.slice(prefix.length - 1)) : folder;
    let stat = file && (await fs.stat(file).catch(() => undefined));
    if (file && !stat && fallback[prefix]) {
      file = path.resolve(fallback[prefix]);
      stat = await fs.stat(file).catch(() => undefined);
    }
    if (file && !stat && built) {
      await built;
      stat = await fs.stat(file).catch(() => undefined);
    }
    if (stat?.isDirectory()) return response.writeHead(302, { location: `${path.posix.basename(pathname)}/` }).end();
    if (!stat?.isFile()) return refuse(404);
    response.writeHead(200, {
      'cache-control': 'no-store',
      'content-length': stat.size,
      'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    });
    if (request.method === 'HEAD') return response.end();
    createReadStream(file).on('error', () => response.destroy()).pipe(response);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    url: `http://${host}:${server.address().port}/`,
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

// In a frame of another origin the docs of the host are foreign. The host's page then fetches them: GET only, pages of its
// own origin only, without cookies.
//
// Any site can embed the frame and say where docs and model are. So that none of them can read or drive this origin with
// the visitor's cookies, nothing but the package itself is asked of it.

const PACKAGE = new URL('.', import.meta.url);

let asked = 0;
const open = new Map();

export function bridgeFetch(post, origin) {
  const direct = globalThis.fetch.bind(globalThis);
  globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const own = url.origin === PACKAGE.origin;
    const refuse = (why) => Promise.reject(new TypeError(`${why}: ${url.href}`));
    if (own && origin !== PACKAGE.origin && (request.method !== 'GET' || !url.href.startsWith(PACKAGE.href))) return refuse('a frame asks its own origin for nothing but the package');
    if (own || url.origin !== origin || request.method !== 'GET') return direct(input, init);
    const ask = ++asked;
    return new Promise((resolve, reject) => {
      request.signal.addEventListener('abort', () => {
        open.delete(ask);
        reject(request.signal.reason);
      });
      open.set(ask, { resolve, reject });
      post({ event: 'fetch', ask, url: url.href });
    });
  };
}

export function fetched({ fetched: ask, error, status, headers, body, url }) {
  const waiting = open.get(ask);
  open.delete(ask);
  if (error !== undefined) return waiting?.reject(new TypeError(error));
  const empty = [204, 205, 304].includes(status);
  return waiting?.resolve(Object.defineProperty(new Response(empty ? null : body, { status, headers }), 'url', { value: url }));
}

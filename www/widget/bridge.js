// In a frame of another origin the docs of the host are foreign. The host's page then fetches them: GET only, pages of its
// own origin only, without cookies; all else goes out as usual.

let asked = 0;
const open = new Map();

export function bridgeFetch(post, origin) {
  const direct = globalThis.fetch.bind(globalThis);
  globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.origin !== origin || origin === new URL(import.meta.url).origin || request.method !== 'GET') return direct(input, init);
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

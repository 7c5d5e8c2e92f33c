// Makes the app work offline: every file of this build is cached on the first visit and served from the cache. Nothing else
// is: requests to models and to other sites are not intercepted. The build (.ci/build) prepends the version and the list of
// files to this script: `VERSION`, a hash of all files, and `FILES`, paths relative to this script.
/* global VERSION, FILES */
const scope = new URL('./', self.location.href);
// Caches belong to the whole origin, which may host other copies of the app.
const PREFIX = `turnwise ${scope.pathname} `;
const CACHE = PREFIX + VERSION;
const OWN = new Set(FILES.map((file) => new URL(file, scope).pathname));

/**
 * A file of this version. The browser's own cache is bypassed: otherwise an old file could end up in a new version. What a login page or
 * a network's start page answers in place of a file is not the file: it would stay until the next version.
 */
async function load(file) {
  const address = new URL(file, scope);
  const response = await fetch(new Request(address, { cache: 'reload' }));
  const start = file === 'index.html';
  const moved = response.redirected && !(start && response.url === scope.href);
  const page = /^text\/html\b/i.test(response.headers.get('content-type') ?? '');
  if (response.status !== 200 || moved || page && !file.endsWith('.html')) throw new Error(`${address.href} could not be loaded`);
  // Hosts that serve index.html as the folder redirect to it; a page is not opened from a response that says so.
  return response.redirected ? new Response(await response.blob(), { headers: response.headers }) : response;
}

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    const kept = await Promise.allSettled(FILES.map(async (file) => cache.put(new URL(file, scope), await load(file))));
    const failed = kept.find(({ status }) => status === 'rejected');
    if (!failed) return;
    await caches.delete(CACHE);
    throw failed.reason;
  })());
});

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
    }
    await self.clients.claim();
  })());
});

// A new version waits until the page activates it, so that no page runs with files of two versions.
self.addEventListener('message', (event) => {
  if (event.data === 'take-over') self.skipWaiting();
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== scope.origin) return;
  const start = request.mode === 'navigate' && (url.pathname === scope.pathname || url.pathname === `${scope.pathname}index.html`);
  if (!start && !OWN.has(url.pathname)) return;
  const key = start ? new URL('index.html', scope) : new URL(url.pathname, scope);
  event.respondWith(caches.open(CACHE).then(async (cache) => (await cache.match(key)) ?? fetch(request)));
});

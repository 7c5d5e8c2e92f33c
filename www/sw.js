// Makes the app work offline: every file of this build is cached on the first visit and served from the cache. Nothing else
// is: requests to models and to other sites are not intercepted. The build (.ci/build) prepends the version and the list of
// files to this script: `VERSION`, a hash of all files, and `FILES`, paths relative to this script.
/* global VERSION, FILES */
const scope = new URL('./', self.location.href);
// Caches belong to the whole origin, which may host other copies of the app.
const PREFIX = `turnwise ${scope.pathname} `;
const CACHE = PREFIX + VERSION;
const OWN = new Set(FILES.map((file) => new URL(file, scope).pathname));

self.addEventListener('install', (event) => {
  // Bypasses the browser's own cache: otherwise an old file could end up in a new version.
  const whole = FILES.map((file) => new Request(new URL(file, scope), { cache: 'reload' }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(whole)));
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

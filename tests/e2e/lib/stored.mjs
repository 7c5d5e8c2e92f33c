// The app's database as a test sees it, and faults in the worker that writes it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dist } from './site.mjs';

/** Runs `body(mounts)` with `init` prepended to the worker that stores the runs; `mounts` is for `withSite`. */
export async function withPatched(init, body) {
  if (!init) return body({});
  return inFolder((save) => {
    const file = save('app-worker.js', `(${init})();\n${readFileSync(path.join(dist, 'turnwise/app-worker.js'), 'utf8')}`);
    return body({ '/turnwise/app-worker.js': file });
  });
}

/** Runs `body(save)` with a folder of its own; `save(name, content)` writes a file there, and returns its path. */
export async function inFolder(body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    return await body((name, content) => {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      return file;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All that the page stored: for each store its keys and its values, contents as text. */
export const everything = (page) => page.evaluate(async () => {
  const request = indexedDB.open('turnwise');
  const db = await new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const ask = (asked) => new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); });
  const all = {};
  for (const name of db.objectStoreNames) {
    const store = () => db.transaction(name).objectStore(name);
    const values = await ask(store().getAll());
    all[name] = { keys: await ask(store().getAllKeys()), values: values.map((value) => (value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value)) };
  }
  db.close();
  return all;
});

/** Does `change(store)` in one transaction on a store of the database. As one expression, since the page's policy allows no `eval`. */
export const changeStored = (page, name, change) => page.evaluate(`new Promise((resolve, reject) => {
  const request = indexedDB.open('turnwise');
  request.onsuccess = () => {
    const transaction = request.result.transaction('${name}', 'readwrite');
    transaction.oncomplete = () => { request.result.close(); resolve(); };
    transaction.onabort = () => reject(transaction.error);
    (${change})(transaction.objectStore('${name}'));
  };
})`);

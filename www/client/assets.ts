// The locations of the package's workers. Bundlers find a worker, and the files that it loads, only if it is written as
// `new Worker(new URL('./name.js', import.meta.url), { type: 'module' })`. So callers write exactly that, but with a
// constructor that only records the URL: the worker itself is started in the way that the page's policy and origin require.

import { shape, wrong } from './check';

/** The URL of a worker's script. */
export interface Script {
  url: URL;
  /** Whether the bundler turned it into a classic script. */
  classic: boolean;
  /** Whether the browser refuses to start a worker from it, but not from a blob that loads it. */
  wrap?: boolean;
}

/** A blob that loads a script. A JSON string is a JavaScript string. */
export function wrapped(url: string, classic: boolean): string {
  const load = JSON.stringify(url);
  return URL.createObjectURL(new Blob([classic ? `importScripts(${load});` : `import ${load};`], { type: 'text/javascript' }));
}

let folder: string | undefined;

/** Sets the location from which the package's files are served. Call it before anything else. */
export function configure(options: { assets: string | URL }) {
  const { assets } = shape({ assets: (value) => value })(options, 'configure()');
  if (typeof assets !== 'string' && !(assets instanceof URL)) throw wrong('configure().assets', assets, 'a URL');
  const page = (globalThis.location as Location | undefined)?.href;
  folder = new URL(String(assets).replace(/\/?$/, '/'), page).href;
}

/** The URL of a package file, if `configure` has set the location. */
export const configured = (name: string) => (folder === undefined ? undefined : folder + name);

/** The script from which `write` constructs a worker. */
export function scriptOf(name: string, write: () => unknown): Script {
  const own = configured(name);
  if (own) return { url: new URL(own), classic: false };
  const scope = globalThis as { Worker?: unknown };
  const real = Object.getOwnPropertyDescriptor(scope, 'Worker');
  let noted: { url: string | URL; options?: WorkerOptions } | undefined;
  const value = function (url: string | URL, options?: WorkerOptions) { noted = { url, options }; };
  Object.defineProperty(scope, 'Worker', { value, configurable: true, writable: true });
  try {
    write();
  } finally {
    if (real) Object.defineProperty(scope, 'Worker', real);
    else delete scope.Worker;
  }
  const page = (globalThis.location as Location | undefined)?.href;
  return { url: new URL(String(noted!.url), page), classic: noted!.options?.type !== 'module' };
}

/** Writes a script's URL and kind as one string. The URL may already have a hash that tells a bundler's script what to load. */
export const written = ({ url, classic }: Script) => (classic ? `${url.href}${url.hash ? '&' : '#'}classic` : url.href);
/** Returns the URL without that hash. */
export const plain = (text: string) => text.replace(/[#&]classic$/, '');

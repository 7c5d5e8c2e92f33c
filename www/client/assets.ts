// Where the package's workers are. Bundlers find a worker, and what it loads in turn, only where it is written as
// `new Worker(new URL('./name.js', import.meta.url), { type: 'module' })`. So that is what callers write, but with a
// constructor that only notes the address: the worker itself is started as the page's policy and origin demand.

/** The address of a worker's script. */
export interface Script {
  url: URL;
  /** Whether the bundler made it a script that is no module. */
  classic: boolean;
}

let folder: string | undefined;

/** For those who serve the package's files from a place of their own. To be called before anything else. */
export function configure({ assets }: { assets: string | URL }) {
  const page = (globalThis.location as Location | undefined)?.href;
  folder = new URL(String(assets).replace(/\/?$/, '/'), page).href;
}

/** A file of the package where `configure` says; nothing where it does not. */
export const configured = (name: string) => (folder === undefined ? undefined : folder + name);

/** The script that `write` constructs a worker of. */
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

/** A script's address in one text, for those who pass it on. It may have a hash already, by which a bundler's script knows what to load. */
export const written = ({ url, classic }: Script) => (classic ? `${url.href}${url.hash ? '&' : '#'}classic` : url.href);
/** The address without that word. */
export const plain = (text: string) => text.replace(/[#&]classic$/, '');

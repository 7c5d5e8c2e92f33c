// Internals for the package's own panel (www/widget). They are not in turnwise.d.ts.
import { scriptOf, written } from './assets';
import { host, link } from './engine';
import type { Fetched } from './host';
import { denied } from './spawn';

export const inside = {
  /** The URL of a worker's script, for `workerUrl`: see assets.ts. */
  script: (name: string, write: () => unknown) => written(scriptOf(name, write)),
  /** Starts the engine; resolves with its number when it is running. Another number means another engine, without the earlier
   *  one's state. If the page's policy blocks it, `blocked` in the error's cause says what to allow. */
  start: () => link.ready(),
  knows: (engine: number) => link.knows(engine),
  /** Keeps it alive until the returned function is called. */
  hold() {
    link.enter();
    let held = true;
    return () => {
      if (held) link.leave();
      held = false;
    };
  },
  /** Returns what the page's policy blocked most recently since the engine started. */
  denied,
  /** Declares that this page is a frame: `fetch` has its host fetch resources from the host's origin. With `only`, a URL,
   *  requests to this page's own origin are limited to addresses below it. */
  frame(fetch: (url: string) => Promise<Fetched>, only?: string) {
    host.fetch = async (address, call, open) => {
      const { status, headers, url, body } = await fetch(address);
      if (!open()) return;
      const { 'content-type': contentType = '', etag, 'last-modified': lastModified, 'x-robots-tag': robots } = Object.fromEntries(headers) as Record<string, string>;
      link.tell('head', { call, head: { status, contentType, etag, lastModified, robots, url } });
      link.tell('piece', { call }, [new Uint8Array(body)]);
    };
    link.only = only;
  },
};

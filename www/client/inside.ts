// What the package's own panel (www/widget) needs of the client beyond the API. Nothing of it is in turnwise.d.ts.
import { scriptOf, written } from './assets';
import { host, link } from './engine';
import type { Fetched } from './host';
import { denied } from './spawn';

export const inside = {
  /** The address of a worker's script, as `workerUrl` takes it: see assets.ts. */
  script: (name: string, write: () => unknown) => written(scriptOf(name, write)),
  /** Starts the engine; resolves with its number when it is there. With another number it is another engine, which knows
   *  nothing of what was. Where the page's policy is in the way, the error's cause says in `blocked` what to allow. */
  start: () => link.ready(),
  knows: (engine: number) => link.knows(engine),
  /** It is going to be used: it stays until what is returned is called. */
  hold() {
    link.enter();
    let held = true;
    return () => {
      if (held) link.leave();
      held = false;
    };
  },
  /** What the page's policy kept the engine from since it started, at last. */
  denied,
  /** This page is a frame: `fetch` has its host fetch what is of the host's origin. With `only`, an address, nothing else
   *  of this page's own origin is asked for than what is below it. */
  frame(fetch: (url: string) => Promise<Fetched>, only?: string) {
    host.fetch = fetch;
    link.only = only;
  },
};

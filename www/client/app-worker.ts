// The app's connection to its worker, the one that drives and stores its runs. Orders and news are texts that this side
// does not read; the app and its worker do (crates/protocol/src/app.rs).
import { Host } from './host';
import { Link } from './link';
import type { Part } from './link';
import { spawn } from './spawn';

// For the workers that the page starts itself.
export { trustedUrl } from './trusted';

export class AppWorker {
  #link: Link;

  /** `hear(text, parts)` receives news; `lost(message)` is called when the worker dies. The next order starts another one, which
   *  has only the stored runs. */
  constructor(hear: (text: string, parts: Part[]) => void, lost: (message: string) => void) {
    const host: Host = new Host(() => this.#link);
    // The app's runs have no page tools; the browser's built-in model only answers in windows.
    host.add(0, { tools: new Map(), approve: undefined, web: {}, hosts: {}, model: () => import('./prompt-api').then(({ complete }) => complete) });
    const unheard = () => {};
    this.#link = new Link((listener) => spawn(listener, { url: new URL('./app-worker.js', import.meta.url), classic: false }), {
      call: (message, parts) => host.call(message, 'complete' in message.what ? parts.shift() as Uint8Array : undefined),
      answered: (message) => host.answered(message),
      abort: ({ call }) => host.abort(call),
      wrote: unheard,
      site: unheard,
      app: ([text, ...parts]) => hear(text as string, parts),
      lost: (message) => {
        host.abortAll();
        lost(message);
      },
    });
    // It lives as long as the page.
    this.#link.enter();
  }

  tell(text: string, parts: Part[]) {
    this.#link.tell('app', { parts: parts.length + 1 }, [text, ...parts]);
  }
}

// The app's line to its desk, the worker in which its runs are driven and stored. Orders and news are texts that this side
// does not read (src/protocol/desk.rs): the app and the desk do.
import { Host } from './host';
import { Link } from './link';
import type { Part } from './link';
import { spawn } from './spawn';

export class Desk {
  #link: Link;

  /** `hear(text, parts)` gets news; `lost(message)` hears that the desk is gone. The next order starts another, which knows
   *  the stored runs only. */
  constructor(hear: (text: string, parts: Part[]) => void, lost: (message: string) => void) {
    const host: Host = new Host(() => this.#link);
    // Runs of the app have no tools of the page's; the model built into the browser answers in windows only.
    host.add(0, { tools: new Map(), approve: undefined, model: () => import('./prompt-api').then(({ complete }) => complete) });
    const unheard = () => {};
    this.#link = new Link((ear) => spawn(ear, { url: new URL('./desk-worker.js', import.meta.url), classic: false }), {
      call: (message, parts) => host.call(message, 'complete' in message.what ? parts.shift() as Uint8Array : undefined),
      abort: ({ call }) => host.abort(call),
      wrote: unheard,
      site: unheard,
      desk: ([text, ...parts]) => hear(text as string, parts),
      lost: (message) => {
        host.abortAll();
        lost(message);
      },
    });
    // It stays for as long as the page does.
    this.#link.enter();
  }

  tell(text: string, parts: Part[]) {
    this.#link.tell('desk', { parts: parts.length + 1 }, [text, ...parts]);
  }
}

// The app's connection to its worker, the one that drives and stores its runs. Orders and news are texts that this side
// does not read; the app and its worker do (crates/protocol/src/app.rs).
import type { Services } from './app-services';
import { Host } from './host';
import type { HostedAgent } from './host';
import { Link } from './link';
import type { Part } from './link';
import { spawn } from './spawn';

// For the workers that the page starts itself.
export { trustedUrl } from './trusted';

export class AppWorker {
  #link: Link;
  #host: Host = new Host(() => this.#link);
  // The browser's built-in model only answers in windows.
  #guest: HostedAgent = { tools: new Map(), approve: undefined, web: {}, hosts: {}, model: () => import('./prompt-api').then(({ complete }) => complete) };
  #reach = '';
  #services: Promise<Services> | undefined;

  /** `hear(text, parts)` receives news; `lost(message)` is called when the worker dies. The next order starts another one, which
   *  has only the stored runs. */
  constructor(hear: (text: string, parts: Part[]) => void, lost: (message: string) => void) {
    const host = this.#host;
    host.add(0, this.#guest);
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

  /** Sets what the tools of all runs may ask of the web: JSON of `{ web, hosts }`. */
  reach(text: string) {
    if (text === this.#reach) return;
    this.#reach = text;
    // What was read by other rules is read again.
    Object.assign(this.#guest, JSON.parse(text), { kept: undefined });
  }

  /** Calls a tool that reaches the web, as a run does. Resolves with JSON of `{ text, hits }`. */
  async try(name: string, args: string) {
    const { text, hits } = await this.#host.trial(this.#guest, name, JSON.parse(args));
    return JSON.stringify({ text, hits });
  }

  /** Calls a function of app-services.ts. Resolves with JSON of its answer, and its files. */
  async services(what: 'add' | 'put' | 'offer', given: string, files: Blob[]) {
    const services = await (this.#services ??= import('./app-services').then(({ Services: Made }) => new Made(this.#guest)));
    const [answer, ...made] = await services[what](JSON.parse(given), files);
    return [JSON.stringify(answer), ...made];
  }

  tell(text: string, parts: Part[]) {
    this.#link.tell('app', { parts: parts.length + 1 }, [text, ...parts]);
  }
}

// `DocsSite`: a documentation site that the worker found, read and indexed, and the tools to search it.
import { text } from './check';
import { host, link, sites } from './engine';
import { TOOL_CONTENT } from './host';
import { disposable, keep, release } from './lifetime';
import { docsOptions, searchLimit } from './options';
import type { DocsInfo, Heard, OpenedSite, SiteId } from './protocol';

const DEFAULT_HITS = 8;
const CLOSED = 'the site was closed';

let ids: SiteId = 0;

/** The state of a site; its tools keep it alive when the page drops the `DocsSite`. */
class DocsState {
  readonly id = (ids += 1);
  readonly generation = link.wake();
  info: DocsInfo | undefined;
  #freed = false;

  constructor(onProgress: ((progress: unknown) => void) | undefined) {
    sites.set(this.id, ({ progress, info }: Heard['site']) => {
      this.info = info ?? this.info;
      if (!progress || !onProgress) return;
      try {
        onProgress(progress);
      } catch (error) {
        console.error('turnwise: onProgress threw', error);
      }
    });
    link.enter();
  }

  /** Throws if the site cannot be used: a restarted worker does not have it. */
  check() {
    if (this.#freed || !link.knows(this.generation)) throw new Error(CLOSED);
  }

  close() {
    if (this.#freed) return;
    this.#freed = true;
    sites.delete(this.id);
    if (link.knows(this.generation)) link.tell('docs_close', { site: this.id });
    link.leave();
  }

  async call(name: string, args: unknown) {
    this.check();
    const { text, structuredContent } = await link.ask<'docs_call', { text: string; structuredContent?: unknown }>('docs_call', { site: this.id, name, arguments: args ?? null });
    return { text, [TOOL_CONTENT]: { structuredContent } };
  }
}

export class DocsSite {
  #own: DocsState;
  declare readonly [Symbol.dispose]: () => void;
  #tools: object[];

  /** @internal */
  constructor(own: DocsState, tools: object[]) {
    this.#own = own;
    this.#tools = tools;
    keep(this, own);
    disposable(this); // not of the prototype: bundlers leave the class out where it is not used
  }

  static async open(given: string | URL, options?: object): Promise<DocsSite> {
    const { page, html, source, onProgress, signal, cache = true, credentials, workerUrl } = docsOptions(given, options);
    const own = new DocsState(onProgress);
    const close = () => own.close();
    signal?.addEventListener('abort', close);
    try {
      const opened = link.ask<'docs_open', OpenedSite>('docs_open', {
        site: own.id, page, html, source: source === 'auto' ? undefined : source, cache, credentials: credentials === 'include', bridged: host.fetch && true, workerUrl,
      });
      if (signal?.aborted) close();
      const { info, tools } = await opened;
      // Progress that arrived meanwhile is newer only if it is final.
      if (!own.info?.complete) own.info = info;
      return new DocsSite(own, tools.map(({ name, description, parameters }) => (
        { name, description, parameters, sideEffect: 'none', execute: (args: unknown) => own.call(name, args) }
      )));
    } catch (error) {
      own.close();
      throw error;
    } finally {
      signal?.removeEventListener('abort', close);
    }
  }

  get info(): any {
    return { ...this.#own.info };
  }

  get tools(): any[] {
    return this.#tools.slice();
  }

  async search(query: string, options?: object): Promise<any> {
    const words = text(query, 'query');
    const { limit = DEFAULT_HITS } = searchLimit(options);
    this.#own.check();
    return link.ask('docs_search', { site: this.#own.id, query: words, limit });
  }

  free() {
    release(this, this.#own);
  }
}

// Services that only the page can provide to its agents: it runs their tools, approves calls and calls its own models. Each
// request is answered once, unless it is aborted.
import type { Link } from './link';
import { configured, scriptOf } from './assets';
import { deadline } from './awake';
import { errorText } from './model';
import type { Complete, Judged } from './model';
import { MAX_RESULT } from './protocol';
import type { AgentId, CallNumber, Code, Heard, PageRequest } from './protocol';
import type { Execute } from './options';
import type { Running } from './sandbox';
import { spawn } from './spawn';
import { trustedHtml } from './trusted';
import { TOOL_CONTENT } from './tool-content';
import { isRead, valueText } from './values';
import type { Send } from './web/fetch';
import type { WebAgent } from './web';

/** One agent's tools, approval and models, and what its tools may ask of the web. */
export interface HostedAgent extends WebAgent {
  tools: Map<string, { execute: Execute }>;
  approve: ((call: unknown, options: { signal: AbortSignal }) => unknown) | undefined;
  /** The model of the provider with this number. */
  model(provider: number): Complete | Promise<Complete>;
}

/** A page from the host's origin, fetched by the host page for this frame. */
export interface Fetched {
  status: number;
  headers: [string, string][];
  /** Its URL after redirects. */
  url: string;
  body: ArrayBuffer;
}

const LENT = { scriptOf, configured, spawn, trustedHtml, deadline };

export class Host {
  /** If this page is a frame: has its host fetch something. */
  fetch: ((url: string, call: CallNumber, open: () => boolean) => Promise<void>) | undefined;
  /** Sends requests to the web on a host that has something better than `fetch`. */
  web: (() => Promise<{ send: Send }>) | undefined;
  #link: () => Link;
  #guests = new Map<AgentId, HostedAgent>();
  #calls = new Map<CallNumber, AbortController>();
  #programs = new Map<CallNumber, Promise<Running>>();

  constructor(link: () => Link) {
    this.#link = link;
  }

  add(agent: AgentId, guest: HostedAgent) {
    this.#guests.set(agent, guest);
  }

  remove(agent: AgentId) {
    this.#guests.delete(agent);
  }

  call({ call, agent, what }: Heard['call'], request: Uint8Array | undefined) {
    const abort = new AbortController();
    this.#calls.set(call, abort);
    const end = (thrown: boolean, value: unknown, said: Said) => {
      if (this.#calls.get(call) !== abort) return;
      this.#calls.delete(call);
      const failed = (error: unknown) => this.#link().tell('failed', { call, failure: ('complete' in what && (error as Partial<Judged>).turnwiseFailure) || { message: errorText(error) } });
      if (thrown) return void failed(value);
      let result;
      try {
        result = said(value);
      } catch (error) {
        return void failed(error);
      }
      this.#link().tell('returned', { call, ...result });
    };
    try {
      if ('fetch' in what) return void this.#fetched(what.fetch.url, call).then(() => end(false, '', nothing), (thrown) => end(true, thrown, nothing));
      if ('code' in what) return void this.#run(what.code, call, abort.signal).then((output) => end(false, output, asResult), (thrown) => end(true, thrown, nothing));
      const guest = this.#guests.get(agent!);
      if (!guest) throw new Error('this agent was freed');
      const [value, said] = this.#do(guest, what, call, abort.signal, request);
      // A synchronous result is returned synchronously.
      const late = typeof (value as any)?.then === 'function' ? Promise.resolve(value).then((result) => (said === asResult ? read(result) : result)) : said === asResult && isRead(value) ? read(value) : undefined;
      if (late) late.then((result) => end(false, result, said), (thrown) => end(true, thrown, said));
      else end(false, value, said);
    } catch (thrown) {
      end(true, thrown, nothing);
    }
  }

  abort(call: CallNumber) {
    const abort = this.#calls.get(call);
    this.#calls.delete(call);
    abort?.abort();
  }

  /** Answers the call of a running program. */
  answered({ call, asked, failed, content }: Heard['answered']) {
    void this.#programs.get(call)?.then((running) => running.answer(asked, failed, content), () => {});
  }

  /** Aborts all calls: the worker that made them is gone. */
  abortAll() {
    for (const call of [...this.#calls.keys()]) this.abort(call);
  }

  /** Runs a program in the sandbox, which is loaded by the first one. */
  async #run(code: Code, call: CallNumber, signal: AbortSignal) {
    const asked = (name: string, args: string) => {
      if (this.#calls.has(call)) this.#link().tell('asked', { call, name, arguments: args });
    };
    const running = import('./sandbox').then(({ run }) => run(code, asked, signal, LENT));
    this.#programs.set(call, running);
    try {
      return await (await running).done;
    } finally {
      this.#programs.delete(call);
    }
  }

  /** Runs a recorded program again: its calls have to be those of the record, and are answered as they were. */
  async again(code: Code, calls: [name: string, args: string][], answers: [asked: number, failed: boolean, content: string][]) {
    return (await import('./sandbox')).again(code, calls, answers, LENT);
  }

  #do(guest: HostedAgent, what: Exclude<PageRequest, { fetch: unknown } | { code: unknown }>, call: CallNumber, signal: AbortSignal, request: Uint8Array | undefined): [unknown, Said] {
    if ('tool' in what) {
      const { name, args } = what.tool;
      const own = guest.tools.get(name);
      return [own ? own.execute(args, { signal }) : this.#reach(guest, name, args, signal), asResult];
    }
    if ('approve' in what) return [guest.approve?.(what.approve, { signal }), asAnswer];
    return [this.#complete(guest.model(what.complete.provider), call, signal, request!), nothing];
  }

  /** Runs a built-in tool that reaches the web without a run, for a person who wants to know whether it works. */
  async trial(guest: HostedAgent, name: string, args: unknown): Promise<{ text: string; hits?: unknown }> {
    const { text, [TOOL_CONTENT]: extras } = await this.#reach(guest, name, args, new AbortController().signal) as { text: string; [TOOL_CONTENT]?: ToolExtras };
    return { text, hits: (extras?.structuredContent as { hits?: unknown } | undefined)?.hits };
  }

  /** Runs a built-in tool that reaches the web. */
  async #reach(guest: HostedAgent, name: string, args: unknown, signal: AbortSignal) {
    const [{ call }, sender] = await Promise.all([import('./web/index'), this.web?.()]);
    return call(name, args, guest, { signal, send: sender?.send, read: (url, contentType, body) => this.#link().ask('page', { url, contentType }, [body]) });
  }

  async #fetched(url: string, call: CallNumber) {
    if (!this.fetch) throw new Error('there is no host to fetch it');
    return this.fetch(url, call, () => this.#calls.has(call));
  }

  async #complete(model: Complete | Promise<Complete>, call: CallNumber, signal: AbortSignal, request: Uint8Array) {
    // Nobody needs what arrives after an abort.
    const open = () => this.#calls.has(call);
    const { ask } = await import('./prompt-api');
    await ask(await model, request, {
      head: (head) => { if (open()) this.#link().tell('head', { call, head }); },
      piece: (bytes) => { if (open()) this.#link().tell('piece', { call }, [bytes]); },
    }, signal);
  }
}

const read = async (value: unknown) => (isRead(value) ? (await import('./reading')).reading(value) : value);

/** An answer for the worker. `images` are data URLs, `structuredContent` is JSON text. */
type Said = (value: unknown) => { text: string; images?: string[]; structuredContent?: string };
const nothing: Said = () => ({ text: '' });

/** Whether a call may run, and how far the answer reaches: `true`, or `{ allow, for }`. Anything else is a refusal. */
const asAnswer: Said = (value) => {
  const { allow = value === true, for: scope = 'call' } = (typeof value === 'object' && value !== null ? value : {}) as { allow?: unknown; for?: string };
  return { text: JSON.stringify({ allow: allow === true, scope }) };
};

export { TOOL_CONTENT };

/** What a tool's result has beside its text. */
export interface ToolExtras {
  /** Images and PDFs, as data URLs. */
  images?: string[];
  /** The result as data, for the program: the model does not see it. */
  structuredContent?: unknown;
}

const asResult: Said = (value) => {
  const extras = (value as { [TOOL_CONTENT]?: ToolExtras } | null | undefined)?.[TOOL_CONTENT];
  if (!extras) return { text: cut(valueText(value)) };
  const { images, structuredContent } = extras;
  return { text: cut(valueText((value as { text?: unknown }).text)), images, structuredContent: JSON.stringify(structuredContent) };
};

/** Cuts an oversized result before it is sent, with the note from crates/engine/src/caps.rs. A UTF-16 unit is at least one byte. */
function cut(text: string): string {
  if (text.length <= MAX_RESULT) return text;
  const bytes = new TextEncoder().encode(text.slice(0, MAX_RESULT));
  const whole = bytes.length + text.length - MAX_RESULT;
  const note = (kept: number) => `\n[the result was cut here: ${kept} of ${whole} bytes were kept]`;
  let kept = MAX_RESULT - note(whole).length;
  // Not inside a character.
  while ((bytes[kept]! & 0xc0) === 0x80) kept -= 1;
  return new TextDecoder().decode(bytes.subarray(0, kept)) + note(kept);
}

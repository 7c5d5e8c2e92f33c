// The page's end of the connection to the engine. Generic: the code that starts the other side decides what it is and where it
// runs. Messages of one task go in one post; requests are matched by number; when the other side dies, all pending requests
// are rejected with the reason, and the next use restarts it.
import { configured } from './assets';
import { deadline } from './awake';
import { VERSION } from './protocol';
import type { Asks, Heard, Tells, Told } from './protocol';

export type Part = string | Blob | Uint8Array;

/** The other side. */
export interface WorkerPort {
  post(data: unknown, transfer: Transferable[]): void;
  /** Reports whether any request is pending. */
  busy?(busy: boolean): void;
  /** Ends the other side. If missing, it stays alive. */
  end?(): void;
  /** Reports what the host's policy blocked. */
  blocked?(directive: string, uri: string): void;
  /** Adds to an error what the host can do about it. */
  explain?(message: string): Error;
}

/** The callbacks for the other side. */
export interface WorkerListener {
  hear(data: unknown): void;
  fail(error: Error): void;
}

/** Starts the other side; throws a message for users if that is not possible. */
export type Start = (listener: WorkerListener) => WorkerPort | Promise<WorkerPort>;

/** Receives the events of a run, before its answer. */
export interface Hearing {
  events(events: Told[]): void;
  lost(message: string): void;
}

/** Handlers of messages that belong to no request. A message takes its parts from the front. */
export interface Handlers {
  call(message: Heard['call'], parts: Part[]): void;
  answered(message: Heard['answered']): void;
  abort(message: Heard['abort']): void;
  wrote(message: Heard['wrote'], parts: Part[]): void;
  site(message: Heard['site']): void;
  app?(parts: Part[]): void;
  /** The other side has died and its state is lost; `message` says why, for users. */
  lost(message: string): void;
}

interface Ask {
  resolve(result: any): void;
  reject(error: Error): void;
  hearing?: Hearing;
}

/** Deadline for the other side's script to run. */
const START_MS = 20_000;
/** Deadline for its module to run, which is larger: a slow network may take long. */
const LOAD_MS = 200_000;
const IDLE_MS = 20_000;

/** A timer that does not keep the process alive. */
function later(ms: number, then: () => void) {
  const timer = setTimeout(then, ms) as unknown as { unref?(): void } & number;
  timer.unref?.();
  return timer;
}

// A lone surrogate is not valid text, and other languages refuse it. JSON escapes it, but not a complete pair.
const LONE = /\\(?:(ud[89a-f][0-9a-f]{2})|[^])/g;
const wellFormed = (json: string) => (json.includes('\\ud') ? json.replace(LONE, (all, lone) => (lone ? '\ufffd' : all)) : json);

export class Link {
  /** If set, requests to the page's own origin must be below this URL. */
  only: string | undefined;
  #start: Start;
  #handlers: Handlers;
  #line: WorkerPort | undefined;
  /** Number of the current other side; 0: none. Comparing numbers shows whether it is still the same one. */
  #generation = 0;
  #generations = 0;
  #queue: string[] = [];
  #parts: Part[] = [];
  #due = false;
  #asks = new Map<number, Ask>();
  /** Callers waiting for the other side to be ready; `undefined` once it is. */
  #meeting: Ask[] | undefined;
  #ids = 0;
  #guests = 0;
  /** Cancels the deadline of the other side's start. */
  #started: (() => void) | undefined;
  #idle: number | undefined;
  #early = true;
  #warming = false;

  constructor(start: Start, handlers: Handlers) {
    this.#start = start;
    this.#handlers = handlers;
  }

  /** Changes how the other side is started, from the next start on; `early`: whether it may start before it is needed. */
  startBy(start: Start, early: boolean) {
    this.#start = start;
    this.#early = early;
  }

  /** Announces that the other side will be needed: starts it when the page is idle. */
  warm() {
    if (this.#generation || this.#warming || !this.#early) return;
    this.#warming = true;
    const start = () => {
      this.#warming = false;
      this.wake();
      this.#rest();
    };
    if (typeof requestIdleCallback === 'function') requestIdleCallback(start, { timeout: 500 });
    else later(0, start);
  }

  /** Keeps the other side and its state alive until `leave`. */
  enter() {
    this.#guests += 1;
    this.#stir();
  }

  leave() {
    this.#guests -= 1;
    this.#rest();
  }

  /** The number of the current other side; starts one if there is none. */
  wake(): number {
    this.#stir();
    if (!this.#generation) this.#begin();
    return this.#generation;
  }

  /** Resolves with the number of the other side when it is ready. */
  ready(): Promise<number> {
    const generation = this.wake();
    return new Promise((resolve, reject) => {
      if (this.#meeting) this.#meeting.push({ resolve: () => resolve(generation), reject });
      else resolve(generation);
    });
  }

  /** Whether this other side is still alive. */
  knows(generation: number) {
    return generation !== 0 && generation === this.#generation;
  }

  /** Sends a message without an answer. Throws if it is not JSON; takes a snapshot of the message. */
  tell<N extends keyof Tells>(name: N, body: Tells[N], parts: Part[] = []) {
    this.#send(name, body, parts);
  }

  ask<N extends keyof Asks, T = unknown>(name: N, body: Asks[N], parts: Part[] = [], hearing?: Hearing): Promise<T> {
    const id = (this.#ids += 1);
    return new Promise((resolve, reject) => {
      this.#send(name, { id, ...body }, parts);
      this.#asks.set(id, { resolve, reject, hearing });
      if (this.#asks.size === 1) this.#line?.busy?.(true);
    });
  }

  #send(name: string, body: object, parts: Part[]) {
    const text = wellFormed(JSON.stringify({ [name]: body }));
    this.wake();
    this.#queue.push(text);
    this.#parts.push(...parts);
    this.#flushSoon();
  }

  #flushSoon() {
    if (this.#due || !this.#line) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      this.#flush();
    });
  }

  #flush() {
    if (!this.#line || !this.#queue.length) return;
    const text = `[${this.#queue.join()}]`;
    const parts = this.#parts;
    this.#queue = [];
    this.#parts = [];
    const transfer = parts.flatMap((part) => (part instanceof Uint8Array ? [part.buffer as ArrayBuffer] : []));
    try {
      this.#line.post(parts.length ? [text, ...parts] : text, transfer);
    } catch (error) {
      this.#lose(error);
    }
  }

  #begin() {
    const generation = (this.#generation = this.#generations += 1);
    const mine = () => this.#generation === generation;
    const fail = (error: unknown) => {
      if (mine()) this.#lose(error);
    };
    const begun = (line: WorkerPort) => {
      if (!mine()) return line.end?.();
      this.#line = line;
      if (this.#asks.size) line.busy?.(true);
      this.#rest();
      return this.#flushSoon();
    };
    this.#meeting = [];
    const page = (globalThis.location as Location | undefined)?.href;
    this.#queue.unshift(JSON.stringify({ hello: { protocol: VERSION, page, worker: configured('worker.js'), only: this.only } }));
    this.#arm(START_MS);
    try {
      const line = this.#start({ hear: (data) => { if (mine()) this.#hear(data); }, fail });
      if (line instanceof Promise) line.then(begun, fail);
      else begun(line);
    } catch (error) {
      // The caller learns of it asynchronously.
      queueMicrotask(() => fail(error));
    }
  }

  #arm(ms: number) {
    this.#started?.();
    this.#started = deadline(ms, () => this.#lose(`it did not start within ${ms / 1000} s`));
  }

  #hear(data: unknown) {
    const post = data as string | [string, ...Part[]];
    const [text, parts] = typeof post === 'string' ? [post, []] : [post[0], post.slice(1)];
    for (const message of JSON.parse(text) as object[]) {
      for (const [name, body] of Object.entries(message)) this.#take(name as keyof Heard, body, parts);
    }
  }

  #take(name: keyof Heard, body: any, parts: Part[]) {
    switch (name) {
      case 'loading': this.#arm(LOAD_MS); break;
      case 'ready':
        this.#started?.();
        if (body.protocol !== VERSION) this.#lose(`it speaks version ${body.protocol} of the protocol and the page version ${VERSION}: their files come from two versions of the package`);
        else this.#met();
        break;
      case 'fatal': this.#lose(this.#line?.explain?.(body.message) ?? body.message); break;
      case 'blocked': this.#line?.blocked?.(body.directive, body.uri); break;
      case 'done': this.#answered(body.id)?.resolve('result' in body ? body.result : JSON.parse(new TextDecoder().decode(parts.shift() as Uint8Array))); break;
      case 'refused': this.#answered(body.id)?.reject(new (body.wrong ? TypeError : Error)(body.message)); break;
      case 'events': this.#asks.get(body.id)?.hearing?.events(body.events); break;
      case 'call': this.#handlers.call(body, parts); break;
      case 'answered': this.#handlers.answered(body); break;
      case 'abort': this.#handlers.abort(body); break;
      case 'wrote': this.#handlers.wrote(body, parts); break;
      case 'site': this.#handlers.site(body); break;
      case 'app': this.#handlers.app?.(parts.splice(0, body.parts)); break;
    }
  }

  #met() {
    const meeting = this.#meeting ?? [];
    this.#meeting = undefined;
    for (const { resolve } of meeting) resolve(undefined);
  }

  #answered(id: number) {
    const ask = this.#asks.get(id);
    this.#asks.delete(id);
    if (ask && !this.#asks.size) this.#line?.busy?.(false);
    this.#rest();
    return ask;
  }

  #lose(why: unknown) {
    const cause = why instanceof Error ? why : new Error(words(why));
    const asks = [...this.#asks.values(), ...this.#meeting ?? []];
    this.#asks.clear();
    this.#close();
    const message = `the agent's worker is gone: ${words(cause)}`;
    this.#handlers.lost(message);
    for (const { reject, hearing } of asks) {
      hearing?.lost(message);
      reject(new Error(message, { cause }));
    }
  }

  #close() {
    this.#stir();
    this.#started?.();
    this.#line?.end?.();
    this.#line = undefined;
    this.#meeting = undefined;
    this.#generation = 0;
    this.#queue = [];
    this.#parts = [];
  }

  /** Cancels the scheduled end of the other side, because it is needed. */
  #stir() {
    clearTimeout(this.#idle);
    this.#idle = undefined;
  }

  /** Schedules the end of the other side for when it has not been needed for a while. */
  #rest() {
    if (this.#idle !== undefined || this.#guests || this.#asks.size || !this.#line?.end) return;
    this.#idle = later(IDLE_MS, () => {
      if (!this.#guests && !this.#asks.size) this.#close();
    });
  }
}

const words = (error: unknown) => String((error as Error | undefined)?.message ?? error);

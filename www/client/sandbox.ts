// Runs the programs of `run_code`, each in a worker of its own, which ends with it. Where the page allows it, that worker is in a
// frame of an opaque origin whose policy permits nothing but the worker: no network, no storage, no other origin's data, should a
// program ever come out of QuickJS. Elsewhere (a policy that refuses the frame, Node.js) it is the worker alone.
import type { deadline } from './awake';
import type { WorkerListener, WorkerPort } from './link';
import type { Script, scriptOf } from './assets';
import { errorText } from './model';
import type { Code } from './protocol';

/** What the page's side of the package lends: this file has a bundle of its own, and these have state. */
export interface Lent {
  scriptOf: typeof scriptOf;
  configured(name: string): string | undefined;
  spawn(listener: WorkerListener, script: Script, name: string): WorkerPort;
  trustedHtml(html: string): string;
  deadline: typeof deadline;
}

/** How a program ended by itself: what it printed with its value, or its error. */
export interface Ended {
  ok: boolean;
  output: string;
}

export interface Running {
  /** Rejects if the program could not be run, or not to its end. */
  done: Promise<Ended>;
  /** Answers the program's call with this number. */
  answer(number: number, failed: boolean, text: string): void;
}

interface Worker {
  post(message: unknown): void;
  end(): void;
}

type Take = (message: unknown) => void;
type Fail = (error: unknown) => void;

/** The frame's document, made by the build: a policy, and www/sandbox/frame.js. */
declare const SANDBOX_FRAME: string;
/** Its first message. A page whose policy refuses its script never sends it. */
const READY = 'turnwise-sandbox';
/** How long to wait for it after the frame has loaded, and in all. */
const LOADED_MS = 1_000;
const FRAME_MS = 10_000;
/** What a worker may post: the limits of www/sandbox/program.js. */
const MAX_NAME = 256;
const MAX_ARGUMENTS = 512 * 1024;
const MAX_ASKED = 16 * 1024 * 1024;
const MAX_CALLS = 1_000;
/** Characters of its end: more than the output and the error of a program can have together. */
const MAX_END = 1024 * 1024;

export function run(code: Code, asked: (name: string, args: string) => void, signal: AbortSignal, lent: Lent): Running {
  let worker: Worker | undefined;
  const early: unknown[] = [];
  let calls = 0;
  let written = 0;
  let ended = false;
  const done = new Promise<Ended>((resolve, reject) => {
    const end = () => {
      ended = true;
      worker?.end();
    };
    const fail = (error: unknown) => {
      if (ended) return;
      end();
      reject(error);
    };
    // What comes from the worker is trusted no more than the program.
    const take = (message: unknown) => {
      if (ended) return;
      const { ask, end: last, failed } = (message ?? {}) as { ask?: unknown; end?: unknown; failed?: unknown };
      if (Array.isArray(ask) && typeof ask[0] === 'string' && typeof ask[1] === 'string' && ask[0].length <= MAX_NAME && ask[1].length <= MAX_ARGUMENTS) {
        calls += 1;
        written += ask[1].length;
        if (calls > MAX_CALLS || written > MAX_ASKED) fail(new Error('the program asked for more than it may'));
        else asked(ask[0], ask[1]);
      } else if (Array.isArray(last) && typeof last[1] === 'string') {
        end();
        resolve({ ok: last[0] === true, output: last[1].slice(0, MAX_END) });
      } else {
        fail(new Error(`the program could not be run: ${typeof failed === 'string' ? failed.slice(0, 1_000) : 'its worker posted what no program does'}`));
      }
    };
    const aborted = () => fail(new Error('aborted'));
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted);
    return void begin(code, take, fail, lent).then((begun) => {
      if (ended) return begun.end();
      worker = begun;
      return early.splice(0).forEach((message) => begun.post(message));
    }, fail);
  });
  return {
    done,
    answer(...answer) {
      if (worker) worker.post({ answer });
      else early.push({ answer });
    },
  };
}

/** The deadline of a recorded program that runs again: on a machine that is busy, longer than the program's own. */
const AGAIN_MS = 120_000;

/**
 * Runs a recorded program again: its calls have to be those of the record, and are answered as they were. Rejects if it cannot be run
 * here, which says nothing about the record.
 */
export async function again(code: Code, calls: [name: string, args: string][], answers: [asked: number, failed: boolean, content: string][], lent: Lent) {
  const abort = new AbortController();
  let asked = 0;
  let wrong: string | undefined;
  let given = 0;
  const give = () => {
    // An answer can only follow its call.
    for (let next; (next = answers[given]) && next[0] < asked; given += 1) running.answer(...next);
  };
  const running = run(code, (name, args) => {
    const [wanted, wantedArgs] = calls[asked] ?? [];
    if (name !== wanted || args !== wantedArgs) {
      wrong ??= `call ${asked} was ${wanted ? `${wanted} ${wantedArgs}` : 'not made'}, now it is ${name} ${args}`;
      return abort.abort();
    }
    asked += 1;
    return give();
  }, abort.signal, lent);
  const ended = lent.deadline(AGAIN_MS, () => {
    wrong ??= `it did not end within ${AGAIN_MS / 1000} s`;
    abort.abort();
  }, true); // nothing else does in Node.js while a program runs again
  try {
    return await running.done;
  } catch (error) {
    if (wrong === undefined) throw new Error(`a program of the record could not be run again: ${errorText(error)}`);
    return { ok: false, output: wrong };
  } finally {
    ended();
  }
}

async function begin(code: Code, take: Take, fail: Fail, lent: Lent): Promise<Worker> {
  const { process } = globalThis as { process?: { versions?: { node?: string }; getBuiltinModule(name: string): any } };
  if (typeof document !== 'object' || !globalThis.location) {
    if (!process?.versions?.node) throw new Error('run_code needs workers, which this host does not have');
    const { Worker } = process.getBuiltinModule('node:worker_threads') as typeof import('node:worker_threads');
    const thread = new Worker(new URL('./sandbox-worker.js', import.meta.url), { name: 'turnwise-program' });
    thread.on('message', take);
    thread.on('error', fail);
    thread.unref();
    thread.postMessage({ ...code, wasm: await process.getBuiltinModule('node:fs/promises').readFile(new URL('./quickjs.wasm', import.meta.url)) });
    return { post: (message) => thread.postMessage(message), end: () => void thread.terminate() };
  }
  const script = lent.scriptOf('sandbox-worker.js', () => new Worker(new URL('./sandbox-worker.js', import.meta.url), { type: 'module', name: 'turnwise-program' }));
  const wasm = lent.configured('quickjs.wasm') ?? new URL('./quickjs.wasm', import.meta.url).href;
  const framed = await inFrame(script, wasm, code, take, lent);
  if (framed) return framed;
  const line = lent.spawn({ hear: take, fail }, script, 'turnwise-program');
  line.post({ ...code, wasmUrl: wasm }, []);
  return { post: (message) => line.post(message, []), end: () => line.end?.() };
}

/** Whether the page allows the frame: the first program finds out, the others wait for it. */
let allowed: Promise<unknown> | undefined;
let files: Promise<[string, ArrayBuffer]> | undefined;

/** The worker's text and the module: the frame cannot load them. */
function load({ url }: Script, wasm: string) {
  const get = async (address: string | URL) => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${String(address)} answered ${response.status}`);
    return response;
  };
  files ??= Promise.all([get(url).then((response) => response.text()), get(wasm).then((response) => response.arrayBuffer())]);
  files.catch(() => { files = undefined; });
  return files;
}

/** `undefined`: the page does not allow the frame. */
async function inFrame(script: Script, wasm: string, code: Code, take: Take, lent: Lent): Promise<Worker | undefined> {
  if (await allowed === false) return undefined;
  const opened = open(lent);
  allowed ??= opened;
  const frame = await opened;
  if (!frame) {
    if (frame === undefined) allowed = undefined; // it was slow: the next program tries again
    return undefined;
  }
  try {
    const [text, bytes] = await load(script, wasm);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => take(data);
    frame.contentWindow!.postMessage([text, { ...code, wasm: bytes }], '*', [port2]);
    return { post: (message) => port1.postMessage(message), end: () => { port1.close(); frame.remove(); } };
  } catch {
    frame.remove(); // the page may not fetch what its workers may
    return undefined;
  }
}

/** Opens a frame; resolves with it when its script runs, with `false` if the page's policy does not allow that, with nothing if it takes too long. */
async function open(lent: Lent): Promise<HTMLIFrameElement | false | undefined> {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.setAttribute('aria-hidden', 'true');
  frame.hidden = true;
  const ready = new Promise<boolean | undefined>((resolve) => {
    const heard = ({ source, data }: MessageEvent) => {
      if (source === frame.contentWindow && data === READY) done(true);
    };
    const done = (runs?: boolean) => {
      removeEventListener('message', heard);
      cancel();
      resolve(runs);
    };
    let cancel = lent.deadline(FRAME_MS, done);
    frame.onload = () => {
      cancel();
      cancel = lent.deadline(LOADED_MS, () => done(false));
    };
    addEventListener('message', heard);
  });
  let runs: boolean | undefined = false;
  try {
    frame.srcdoc = lent.trustedHtml(SANDBOX_FRAME);
    (document.body ?? document.documentElement).append(frame);
    runs = await ready;
  } catch {
    // As where its script is refused.
  }
  if (runs) return frame;
  frame.remove();
  return runs === false ? false : undefined;
}

// One run: a promise of its result, and the parts that lead to it.
import type { AgentEvent, Trajectory } from '../types/turnwise.js';
import { TurnwiseError } from './error.js';
import { partOf } from './parts.js';
import type { Part } from './parts.js';
import { Replay } from './replay.js';
import { endingOf } from './result.js';
import type { RunResult } from './result.js';
import type { UIMessageChunk, UIMessageStreamOptions } from './ui-stream.js';

/** The chunks of a run as a stream. What makes them is loaded by the first one. */
function chunks(run: AsyncIterable<Part>, options?: UIMessageStreamOptions): ReadableStream<UIMessageChunk> {
  let made: Promise<AsyncGenerator<UIMessageChunk, void, undefined>> | undefined;
  const open = () => (made ??= import('./ui-stream.js').then(({ uiMessageChunks }) => uiMessageChunks(run, options)));
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await (await open()).next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.enqueue({ type: 'error', errorText: String((error as Error | undefined)?.message ?? error) });
        controller.close();
      }
    },
    cancel: async () => void (await made)?.return(),
  });
}

/** The interface through which `Run` drives a run. @internal */
export interface Engine<Output> {
  /** Starts it; resolves with the result, rejects with a `TurnwiseError`, or with a `TypeError` for misuse. */
  start(hear: (event: AgentEvent) => void): Promise<RunResult<Output>>;
  stop(): void;
  cancel(): void;
  checkpoint(): Promise<Trajectory | undefined>;
}

/**
 * A run: await it for its result, iterate it for its parts, or both. Each reader gets all parts, whenever it begins. A run
 * continues whether it is read or not.
 *
 * @example
 * const run = agent.stream('Hello');
 * for await (const text of run.textStream) process.stdout.write(text);
 * const { usage } = await run;
 */
export class Run<Output = string> implements PromiseLike<RunResult<Output>>, AsyncIterable<Part> {
  readonly #parts = new Replay<Part>();
  readonly #engine: Engine<Output>;
  readonly #result: Promise<RunResult<Output>>;
  /** Set when the run has ended. */
  #end: { trajectory: Trajectory | undefined } | undefined;

  /** Created by `agent.stream`, `chat.send` and similar methods. @internal */
  constructor(engine: Engine<Output>) {
    this.#engine = engine;
    let last = { turn: 0, callsLeft: 0 };
    let maxTurns = 0;
    const hear = (event: AgentEvent) => {
      last = { turn: event.turn, callsLeft: event.callsLeft };
      if (event.type === 'run_started') maxTurns = event.maxTurns;
      const part = partOf(event, maxTurns);
      if (part) this.#parts.push(part);
    };
    this.#result = engine.start(hear);
    this.#result.then(
      ({ text, trajectory }) => {
        this.#end = { trajectory };
        this.#parts.push({ type: 'finish', ...last, text, ending: endingOf(trajectory) });
        this.#parts.end();
      },
      (error: unknown) => {
        this.#end = { trajectory: error instanceof TurnwiseError ? error.trajectory : undefined };
        if (error instanceof TurnwiseError) this.#parts.push({ type: 'error', ...last, error });
        this.#parts.end(error instanceof TurnwiseError ? undefined : { error });
      },
    );
  }

  /** The result. Throws a `TurnwiseError` if the run failed or was cancelled. */
  get result(): Promise<RunResult<Output>> {
    return this.#result;
  }

  /** As of a promise of the result. */
  then<A = RunResult<Output>, B = never>(onResult?: ((result: RunResult<Output>) => A | PromiseLike<A>) | null, onError?: ((error: any) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.#result.then(onResult, onError);
  }

  /** As of a promise of the result. */
  catch<B = never>(onError?: ((error: any) => B | PromiseLike<B>) | null): Promise<RunResult<Output> | B> {
    return this.#result.catch(onError);
  }

  /** As of a promise of the result. */
  finally(then?: (() => void) | null): Promise<RunResult<Output>> {
    return this.#result.finally(then);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Part, void, undefined> {
    return this.#parts[Symbol.asyncIterator]();
  }

  /**
   * The model's text as it is streamed, including earlier turns and attempts that failed later, with an
   * empty line between them. If the answer was not streamed, because it is a report or a tool's result, it is added at
   * the end. Throws like the result.
   */
  get textStream(): AsyncIterable<string> {
    const run = this;
    return {
      async *[Symbol.asyncIterator]() {
        let streamed = '';
        let before = false; // an earlier turn or attempt had text
        for await (const part of run) {
          if (part.type === 'turn-start' || part.type === 'attempt-failed') {
            before ||= streamed !== '';
            streamed = '';
          }
          if (part.type === 'text-delta') {
            yield before && !streamed ? `\n\n${part.text}` : part.text;
            streamed += part.text;
          }
          if (part.type === 'finish' && part.text.trim() !== streamed.trim()) yield before || streamed ? `\n\n${part.text}` : part.text;
          if (part.type === 'error') throw part.error;
        }
      },
    };
  }

  /** The run as chunks of the AI SDK's UI message stream, which `useChat` and assistant-ui read. */
  toUIMessageStream(options?: UIMessageStreamOptions): ReadableStream<UIMessageChunk> {
    return chunks(this, options);
  }

  /** The same, as the response of a server route. */
  toUIMessageStreamResponse(options?: UIMessageStreamOptions & { status?: number; headers?: Headers | Record<string, string> | [string, string][] }): Response {
    const { status, headers, ...given } = options ?? {};
    const events = new TransformStream<UIMessageChunk, string>({
      transform: (chunk, controller) => controller.enqueue(`data: ${JSON.stringify(chunk)}\n\n`),
      flush: (controller) => controller.enqueue('data: [DONE]\n\n'),
    });
    const all = new Headers(headers);
    const own = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-vercel-ai-ui-message-stream': 'v1', 'x-accel-buffering': 'no' };
    for (const [name, value] of Object.entries(own)) if (!all.has(name)) all.set(name, value);
    return new Response(chunks(this, given).pipeThrough(events).pipeThrough(new TextEncoderStream()), { status, headers: all });
  }

  /**
   * Wraps up: one more request, without tools, has the model conclude from what the run has. A reply that streams in is dropped for it.
   * The result says so: `ending.outcome` is `partial`. For a button *Wrap up*.
   */
  stop() {
    this.#engine.stop();
  }

  /** Ends the run now, without another request. Its result throws; the error has the text that had arrived (`partialText`). For a button *Stop*. */
  cancel() {
    this.#engine.cancel();
  }

  /** Returns the current record, which `agent.resume` continues after a crash; `undefined` before the run has begun. */
  async checkpoint(): Promise<Trajectory | undefined> {
    const now = this.#end ? undefined : await this.#engine.checkpoint().catch(async () => {
      // The run has ended in the meantime, and its agent was freed.
      await this.#result.catch(() => {});
    });
    return this.#end ? this.#end.trajectory : now ?? undefined;
  }
}

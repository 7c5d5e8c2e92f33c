// What a model in the page answers, as the pieces that its decoder in the worker reads.
import { json } from './check';
import type { Failure, Head } from './protocol';

/** A function of the page's that asks its model. */
export type Complete = (request: any, options: { signal: AbortSignal }) => unknown;

/** Where the pieces go. */
export interface Sink {
  head(head: Head): void;
  piece(bytes: Uint8Array): void;
}

/** A failure that is judged already. Known by its property: what throws it may be a module of its own. */
export class Judged extends Error {
  constructor(readonly turnwiseFailure: Failure) {
    super(turnwiseFailure.message);
  }
}

const encoder = new TextEncoder();
const bytes = (value: unknown) => encoder.encode(JSON.stringify(value) ?? '');
const said = (content: string) => ({ choices: [{ delta: { content } }] });

export async function pour(answer: any, sink: Sink, signal: AbortSignal): Promise<void> {
  if (typeof answer === 'string') return sink.piece(bytes({ choices: [{ message: { content: answer }, finish_reason: 'stop' }] }));
  if (answer instanceof Response) return pourResponse(answer, sink, signal);
  if (typeof answer?.[Symbol.asyncIterator] === 'function') return pourChunks(answer[Symbol.asyncIterator](), sink, signal);
  if (typeof answer === 'object' && answer !== null) return sink.piece(bytes(answer));
  throw new Judged({
    message: 'The page\'s `complete` returned nothing: it must return a string, a chat completion, an async iterable of its chunks, or a Response.',
    fatal: true,
  });
}

async function pourResponse({ status, headers, body }: Response, sink: Sink, signal: AbortSignal) {
  const header = (name: string) => headers.get(name) ?? undefined;
  sink.head({
    status, contentType: header('content-type') ?? '', retryAfter: header('retry-after'), retryAfterMs: header('retry-after-ms'),
    shouldRetry: header('x-should-retry'),
  });
  const reader = body?.getReader();
  signal.addEventListener('abort', () => reader?.cancel().catch(() => {}));
  // A copy each: it is transferred, and what was read may share its buffer.
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) sink.piece(new Uint8Array(part.value));
}

/** Chunks as they come. Texts have no end marker of their own: their end is the iterator's. */
async function pourChunks(iterator: AsyncIterator<unknown>, sink: Sink, signal: AbortSignal) {
  // Lets a generator clean up; what it says then does not matter.
  const giveUp = () => void Promise.resolve(iterator.return?.()).catch(() => {});
  signal.addEventListener('abort', giveUp);
  let texts = false;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    texts ||= typeof next.value === 'string';
    sink.piece(bytes(typeof next.value === 'string' ? said(next.value) : next.value));
  }
  signal.removeEventListener('abort', giveUp);
  if (texts) sink.piece(bytes({ choices: [{ delta: {}, finish_reason: 'stop' }] }));
}

/** What was thrown, in words; a failed fetch hides its reason in the cause. */
export function errorText(thrown: any): string {
  const message = (value: any) => (typeof value?.message === 'string' ? (value.message as string) : undefined);
  const text = typeof thrown === 'string' ? thrown : message(thrown);
  if (text === undefined) return json(thrown) ?? 'unknown error';
  const cause = message(thrown?.cause);
  return cause ? `${text}: ${cause}` : text;
}

/** What a function of the page's threw. With a `status` it is judged as that answer of a server. */
export function failureOf(thrown: any): Failure {
  if (thrown?.turnwiseFailure) return (thrown as Judged).turnwiseFailure;
  const number = (key: string) => (typeof thrown?.[key] === 'number' ? (thrown[key] as number) : undefined);
  return { message: errorText(thrown), status: number('status'), retryAfterMs: number('retryAfterMs') };
}

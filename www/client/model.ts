// Converts the answers of a model in the page to the pieces that its decoder in the worker reads.
import { describe, json } from './check';
import type { Failure, ResponseHead } from './protocol';

/** The page's function that calls its model. */
export type Complete = (request: any, options: { signal: AbortSignal }) => unknown;

/** Receives the pieces. */
export interface Sink {
  head(head: ResponseHead): void;
  piece(bytes: Uint8Array): void;
}

/** A failure that is already classified. Recognized by its property, because it may be thrown by another module. */
export class Judged extends Error {
  constructor(readonly turnwiseFailure: Failure) {
    super(turnwiseFailure.message);
  }
}

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value) ?? '');
const said = (content: string) => ({ choices: [{ delta: { content } }] });

/** Asks a model of the page, and converts its answer. Throws `Judged`. */
export async function ask(complete: Complete, request: Uint8Array, sink: Sink, signal: AbortSignal): Promise<void> {
  try {
    await pour(await complete(JSON.parse(new TextDecoder().decode(request)), { signal }), sink, signal);
  } catch (error) {
    throw new Judged(failureOf(error));
  }
}

async function pour(answer: any, sink: Sink, signal: AbortSignal): Promise<void> {
  if (typeof answer === 'string') return sink.piece(bytes({ choices: [{ message: { content: answer }, finish_reason: 'stop' }] }));
  if (Object.prototype.toString.call(answer) === '[object Response]') return pourResponse(answer, sink, signal);
  if (typeof answer?.[Symbol.asyncIterator] === 'function') return pourChunks(answer[Symbol.asyncIterator](), sink, signal);
  if (typeof answer === 'object' && answer && ('choices' in answer || 'error' in answer)) return sink.piece(bytes(answer));
  throw new Judged({
    message: `The page's \`complete\` returned ${describe(answer)}: it must return a string, a chat completion ({ choices: [{ message }] }), an async iterable of its chunks, or a Response.`,
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
  // Copies each chunk: it is transferred, and the chunks may share a buffer.
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) sink.piece(new Uint8Array(part.value));
}

/** Streams chunks. Strings have no end marker: the end of the iterator serves as one. */
async function pourChunks(iterator: AsyncIterator<unknown>, sink: Sink, signal: AbortSignal) {
  // Lets a generator clean up; its result does not matter.
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

/** Returns the message of a thrown value; a failed fetch has its reason in the cause. */
export function errorText(thrown: any): string {
  const message = (value: any) => (typeof value?.message === 'string' ? (value.message as string) : undefined);
  const text = typeof thrown === 'string' ? thrown : message(thrown);
  if (text === undefined) return json(thrown) ?? 'unknown error';
  const cause = message(thrown?.cause);
  return cause ? `${text}: ${cause}` : text;
}

const BROKEN = /^(failed to fetch|fetch failed|load failed|network ?error|terminated)|^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EHOST|ENET|UND_ERR)/i;
/** Whether no server was reached: what `fetch` of browsers, of Node.js and of Bun throws, also as the cause of another error. */
const isBroken = (thrown: any): boolean => (thrown instanceof TypeError && BROKEN.test(thrown.message)) || BROKEN.test(thrown?.code) || (!!thrown?.cause && isBroken(thrown.cause));

/** Converts an error that a function of the page threw. With a `status`, it is classified like a server's response with that status. */
function failureOf(thrown: any): Failure {
  if (thrown?.turnwiseFailure) return (thrown as Judged).turnwiseFailure;
  const number = (key: string) => (typeof thrown?.[key] === 'number' ? (thrown[key] as number) : undefined);
  return { message: errorText(thrown), status: number('status'), retryAfterMs: number('retryAfterMs'), ...(isBroken(thrown) && { network: true }) };
}

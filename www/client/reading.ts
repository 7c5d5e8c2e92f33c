// Reads what a tool of the page returned, where that is no value yet: a response, a blob, a stream, a generator. Loaded by the first one.
import { tag, unusable } from './values';

/** The most that is read of a stream or a generator: a result is cut there anyway (protocol.ts, `MAX_RESULT`). */
const MAX_PARTS = 10_000;

async function collected(values: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const one of values) if (all.push(one) >= MAX_PARTS) break;
  return all;
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

/** The text of bytes; throws if they are none. */
function decoded(bytes: ArrayBuffer | Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(`${what} that is not UTF-8 text`, 'a text about it, or toolContent([...]) for pictures and PDFs');
  }
}

/** Reads a value that `isRead`. */
export function reading(value: object): Promise<unknown> {
  const kind = tag(value);
  if (kind === 'Response') {
    const { bodyUsed, headers, ok, status } = value as Response;
    if (bodyUsed) throw unusable('a Response whose body was already read', 'what was read');
    return (value as Response).arrayBuffer().then((body) => {
      const text = decoded(body, `a Response (${headers.get('content-type') ?? 'without a content type'})`);
      if (!ok) throw new Error(`status ${status}${text ? `: ${text.slice(0, 2000)}` : ''}`);
      return text;
    });
  }
  if (kind === 'Blob' || kind === 'File') return (value as Blob).arrayBuffer().then((body) => decoded(body, `a ${kind} (${(value as Blob).type || 'without a type'})`));
  if (kind === 'ReadableStream') {
    return collected(value as unknown as AsyncIterable<unknown>).then(async (parts) => (parts.every(isBytes) ? decoded(new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()), 'a stream') : joined(parts)));
  }
  // Of a generator that reports its progress, the values in order.
  return collected(value as AsyncIterable<unknown>).then(joined);
}

const joined = (parts: unknown[]) => (parts.every((part) => typeof part === 'string') ? parts.join('') : parts);

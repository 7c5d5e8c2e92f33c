// A run as the AI SDK's UI message stream (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol): useChat, assistant-ui and other
// chat components of that family can render it. Loaded when a run is first asked for it.
import type { Part } from './parts.js';

/**
 * The chunks that a run produces: a subset of the AI SDK's `UIMessageChunk`.
 *
 * @example
 * for await (const chunk of run.toUIMessageStream()) if (chunk.type === 'text-delta') console.log(chunk.delta);
 */
export type UIMessageChunk =
  | { type: 'start'; messageId?: string; messageMetadata?: unknown }
  | { type: 'start-step' } | { type: 'finish-step' }
  | { type: 'text-start'; id: string } | { type: 'text-delta'; id: string; delta: string } | { type: 'text-end'; id: string }
  | { type: 'reasoning-start'; id: string } | { type: 'reasoning-delta'; id: string; delta: string } | { type: 'reasoning-end'; id: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; dynamic: true }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; dynamic: true }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; dynamic: true }
  | { type: `data-${string}`; id?: string; data: unknown; transient?: boolean }
  | { type: 'error'; errorText: string } | { type: 'abort' }
  | { type: 'finish'; messageMetadata?: unknown };

/**
 * What the stream has.
 *
 * @example
 * run.toUIMessageStream({ messageId: 'm1', sendReasoning: false })
 */
export interface UIMessageStreamOptions {
  /** Id of the message. Default: chosen by the reader. */
  messageId?: string;
  /** Whether reasoning is sent. Default: true. */
  sendReasoning?: boolean;
  /**
   * Whether parts without a matching chunk (turns, waits, failed attempts, the synthesis) are sent as transient `data-turnwise`.
   * Default: true.
   */
  sendParts?: boolean;
}

/** The chunks of a run. @internal */
export async function* uiMessageChunks(parts: AsyncIterable<Part>, { messageId, sendReasoning = true, sendParts = true }: UIMessageStreamOptions = {}): AsyncGenerator<UIMessageChunk, void, undefined> {
  /** The open text or reasoning block. */
  let open: { kind: 'text' | 'reasoning'; id: string; text: string } | undefined;
  let ids = 0;
  let inStep = false;
  /** The turn's text, with all blocks joined. */
  let turnText = '';
  const close = function* (): Generator<UIMessageChunk> {
    if (open) yield { type: `${open.kind}-end`, id: open.id };
    open = undefined;
  };
  const say = function* (kind: 'text' | 'reasoning', text: string): Generator<UIMessageChunk> {
    if (open?.kind !== kind) {
      yield* close();
      open = { kind, id: `${kind}-${(ids += 1)}`, text: '' };
      yield { type: `${kind}-start`, id: open.id };
    }
    yield { type: `${kind}-delta`, id: open.id, delta: text };
  };
  const endStep = function* (): Generator<UIMessageChunk> {
    yield* close();
    if (inStep) yield { type: 'finish-step' };
    inStep = false;
  };
  yield messageId === undefined ? { type: 'start' } : { type: 'start', messageId };
  for await (const part of parts) {
    if (sendParts && /^(turn-start|waiting|attempt-failed|synthesis-start|child)$/.test(part.type)) yield { type: 'data-turnwise', data: part, transient: true };
    switch (part.type) {
      case 'turn-start':
        yield* endStep();
        inStep = true;
        turnText = '';
        yield { type: 'start-step' };
        break;
      case 'text-delta':
        turnText += part.text;
        yield* say('text', part.text);
        break;
      case 'reasoning-delta':
        if (sendReasoning) yield* say('reasoning', part.text);
        break;
      // Streamed text cannot be taken back, so the repeated attempt begins a new block.
      case 'attempt-failed':
        turnText = '';
        yield* close();
        break;
      case 'tool-call':
        yield* close();
        yield { type: 'tool-input-available', toolCallId: part.toolCallId, toolName: part.toolName, input: part.input, dynamic: true };
        break;
      case 'tool-result':
        yield part.isError
          ? { type: 'tool-output-error', toolCallId: part.toolCallId, errorText: part.output, dynamic: true }
          : { type: 'tool-output-available', toolCallId: part.toolCallId, output: part.output, dynamic: true };
        break;
      case 'finish':
        if (part.text.trim() !== turnText.trim()) yield* say('text', part.text);
        yield* endStep();
        yield { type: 'finish', messageMetadata: { ending: part.ending } };
        break;
      case 'error':
        yield* endStep();
        if (part.error.reason === 'cancelled') yield { type: 'abort' };
        else yield { type: 'error', errorText: part.error.message };
        break;
    }
  }
}

// The parts of a streamed run, and their conversion from engine events.
import type { AgentEvent, BuiltInTool, CounterLevel, Trajectory, TrajectoryCall, TrajectoryTurn, Trigger } from '../types/turnwise.js';
import { endingOf, resultUsage } from './result.js';
import type { Ending, TokenUsage } from './result.js';
import type { TurnwiseError } from './error.js';
import type { Tool, Tools } from './tool.js';

/** Common fields of every part. */
interface Counted {
  /** The turn that it belongs to; a sub-agent counts its own turns. */
  turn: number;
  /** Maximum number of LLM requests still to come, retries and sub-agents included. */
  callsLeft: number;
}

/** Tools that the engine itself can add to those of an agent. */
export type OwnTool = BuiltInTool | 'final_report';

/** Name and arguments of a call: those of the agent's tools have types, those of built-in tools have not. The model wrote the arguments, so of a call that fails they may be anything. */
export type ToolCallOf<T extends Tools = Tools> = string extends keyof T
  ? { toolName: string; input: any }
  : { [Name in keyof T & string]: { toolName: Name; input: T[Name] extends Tool<infer Input, any> ? Input : any } }[keyof T & string] | { toolName: OwnTool; input: any };

/**
 * One step of a run as it happens. With the type of an agent's tools, calls have their names and arguments.
 *
 * @example
 * for await (const part of agent.stream('Hello')) if (part.type === 'text-delta') process.stdout.write(part.text);
 */
export type Part<T extends Tools = Tools> = Counted & (
  /** More text of the answer. Discard it if an `attempt-failed` of the same turn follows. */
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  | { type: 'tool-call'; toolCallId: string } & ToolCallOf<T>
  | ToolResultPart<T>
  | { type: 'turn-start'; maxTurns: number; synthesis: boolean }
  | { type: 'turn-finish'; text: string; reasoning?: string; usage: TokenUsage; counterLevel: CounterLevel; synthesis: boolean; /** How many of the oldest messages of the conversation its request left out to fit the context window; absent: none. */ leftOut?: number }
  /** The run waits before it calls the model again. */
  | { type: 'waiting'; attempt: number; ms: number; slugs: string[]; message: string }
  /** A request failed. Discard what this attempt streamed. */
  | { type: 'attempt-failed'; attempt: number; slugs: string[]; message: string }
  /** A limit was reached: the model is asked to conclude from what it has. */
  | { type: 'synthesis-start'; trigger: Trigger }
  /** A part of a sub-agent's run; `child` counts from 1. */
  | { type: 'child'; child: number; part: Part<T> }
  /** The last part of a run that has an answer. */
  | { type: 'finish'; text: string; ending: Ending }
  /** The last part of a run that failed or was cancelled. */
  | { type: 'error'; error: TurnwiseError }
);

/**
 * The answer to a tool call.
 *
 * @example
 * if (part.type === 'tool-result' && part.isError) console.warn(part.toolName, part.slug, part.output);
 */
export type ToolResultPart<T extends Tools = Tools> = ToolCallOf<T> & {
  type: 'tool-result';
  toolCallId: string;
  /** The text as the model receives it, without the turn counter. */
  output: string;
  /** The result as data, if the tool returned any (`toolContent`). The model does not see it. */
  structuredContent?: any;
  /** Whether the call failed; `slug` says why. */
  isError: boolean;
  slug?: string;
  durationMs: number;
};

/** Converts an engine event to a part, if it has one. The last parts of a run are created elsewhere. @internal */
export function partOf(event: AgentEvent, maxTurns: number): Part | undefined {
  const { turn, callsLeft } = event;
  const part = ownPart(event, maxTurns);
  return part && { turn, callsLeft, ...part } as Part;
}

function ownPart(event: AgentEvent, maxTurns: number): object | undefined {
  switch (event.type) {
    case 'text_delta': return { type: 'text-delta', text: event.text };
    case 'reasoning_delta': return { type: 'reasoning-delta', text: event.text };
    case 'tool_started': return { type: 'tool-call', toolCallId: event.id, toolName: event.name, input: event.args };
    case 'tool_finished': return toolResult(event.call);
    case 'turn_started': return { type: 'turn-start', maxTurns, synthesis: event.synthesis };
    case 'turn_finished': return turnFinish(event.record);
    case 'waiting': return { type: 'waiting', attempt: event.attempt, ms: event.ms, slugs: event.slugs, message: event.message };
    case 'attempt_failed': return { type: 'attempt-failed', attempt: event.attempt, slugs: event.slugs, message: event.message };
    case 'synthesis_started': return { type: 'synthesis-start', trigger: event.trigger };
    case 'child': {
      const part = partOf(event.event as AgentEvent, maxTurns);
      return part && { type: 'child', child: event.child, part };
    }
    default: return undefined;
  }
}

const turnFinish = ({ content, reasoning, attempts, counter_level, synthesis }: TrajectoryTurn) => {
  const leftOut = attempts.at(-1)?.left_out;
  return { type: 'turn-finish', text: content, reasoning, usage: resultUsage(attempts.map(({ usage }) => usage)), counterLevel: counter_level, synthesis, ...(leftOut && { leftOut }) };
};

/** The parts of a recorded run: those that it had when it ran, without streamed text, waits, and the parts of sub-agents. @internal */
export function partsOf(trajectory: Trajectory): Part[] {
  const { turns, max_turns: maxTurns, outcome, output, events } = trajectory;
  // The results as they came: the record's have the turn counter.
  const came = new Map(events.flatMap(({ event }) => (event.type === 'tool_finished' && 'content' in event.outcome ? [[event.call, event.outcome.content] as const] : [])));
  const plain = (call: TrajectoryCall) => (call.result?.startsWith(came.get(call.id) ?? '\0') ? { ...call, result: came.get(call.id)! } : call);
  const parts = turns.flatMap((turn) => [
    { type: 'turn-start', maxTurns, synthesis: turn.synthesis },
    ...turn.tool_calls.flatMap((call) => [{ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: call.args }, ...(call.duration_ms == null ? [] : [toolResult(plain(call))])]),
    turnFinish(turn),
  ].map((part) => ({ turn: turn.turn, callsLeft: 0, ...part }))) as Part[];
  const answered = outcome === 'success' || outcome === 'partial';
  return answered ? [...parts, { type: 'finish', turn: turns.length, callsLeft: 0, text: output ?? '', ending: endingOf(trajectory) }] : parts;
}

function toolResult({ id, name, args, result, structured_content, error, slug, duration_ms }: TrajectoryCall): ToolResultPart {
  return {
    type: 'tool-result', toolCallId: id, toolName: name, input: args, output: result ?? '', ...(structured_content !== undefined && { structuredContent: structured_content }), isError: error !== undefined || slug !== undefined, slug,
    durationMs: duration_ms ?? 0,
  };
}

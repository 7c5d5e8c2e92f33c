// The result of a run, read from its trajectory. Results are camel case; the trajectory keeps the format's snake case.
import type { AnswerSource, Files, Outcome, TerminationReason, Trajectory, TrajectoryPrice, Trigger, Usage } from '../types/turnwise.js';

/**
 * Token counts. `inputTokens` includes cached tokens, `outputTokens` includes reasoning.
 *
 * @example
 * const { usage } = await agent.generate('Hello');
 * console.log(usage.totalTokens, usage.estimated);
 */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  totalTokens: number;
  /** Whether some figures are estimates because the provider reported none. */
  estimated: boolean;
}

/**
 * How the run ended.
 *
 * @example
 * const { ending } = await agent.generate('Hello');
 * if (ending.outcome === 'partial') console.log(`ended early: ${ending.trigger}`);
 */
export interface Ending {
  reason: TerminationReason;
  /** `success`, or `partial` if a limit or `stop()` made the run conclude from what it had. */
  outcome: Outcome;
  answerSource: AnswerSource;
  /** The trigger that made the run conclude early. */
  trigger?: Trigger;
  turns: number;
  maxTurns: number;
}

/**
 * The result of a run.
 *
 * @example
 * const { text, output, usage, cost, trajectory } = await agent.generate('Hello');
 */
export interface RunResult<Output = string> {
  /** The value that matches `output`; without `output`, the text. */
  output: Output;
  /** The answer as text. */
  text: string;
  ending: Ending;
  usage: TokenUsage;
  /** In US dollars, including sub-agents; `null` if a model's price is not known. */
  cost: number | null;
  /** LLM requests sent, including retries and sub-agents. */
  requests: number;
  /** The files of the run, including those its tools wrote. */
  files: Files;
  /** The complete record: replay it, export it, resume it, branch from it. */
  trajectory: Trajectory;
}

const NONE: Usage = { input: 0, output: 0, cached: 0, reasoning: 0, estimated: false };

/** @internal */
export function resultUsage(all: readonly (Usage | undefined)[]): TokenUsage {
  const sum = all.reduce<Usage>((total, usage = NONE) => ({
    input: total.input + usage.input, output: total.output + usage.output, cached: total.cached + usage.cached,
    reasoning: total.reasoning + usage.reasoning, estimated: total.estimated || usage.estimated,
  }), NONE);
  return {
    inputTokens: sum.input, outputTokens: sum.output, cachedInputTokens: sum.cached, reasoningTokens: sum.reasoning,
    totalTokens: sum.input + sum.output, estimated: sum.estimated,
  };
}

/** Computes the cost like `RunSummary.cost` (crates/record/src/trajectory/summary.rs): `null` if a price is missing. */
function costOf({ config, turns, children }: Trajectory): number | null {
  let sum = 0;
  for (const { usage, provider } of turns.flatMap((turn) => turn.attempts)) {
    const price = config.providers[provider]?.price;
    if (!price) return null;
    if (usage) sum += dollars(price, usage);
  }
  for (const child of children) {
    const cost = costOf(child);
    if (cost === null) return null;
    sum += cost;
  }
  return sum;
}

const dollars = ({ input, output, cached }: TrajectoryPrice, usage: Usage) =>
  ((usage.input - usage.cached) * input + usage.cached * cached + usage.output * output) / 1e6;

/** @internal */
export function endingOf(trajectory: Trajectory): Ending {
  return {
    reason: trajectory.termination_reason!, outcome: trajectory.outcome!, answerSource: trajectory.answer_source!, trigger: trajectory.wrap_up,
    turns: trajectory.total_turns, maxTurns: trajectory.max_turns,
  };
}

/** @internal */
export function resultOf<Output>(trajectory: Trajectory, files: Files, output: Output): RunResult<Output> {
  return {
    output, text: trajectory.output ?? '', ending: endingOf(trajectory), usage: resultUsage([trajectory.tokens]), cost: costOf(trajectory),
    requests: trajectory.requests, files, trajectory,
  };
}

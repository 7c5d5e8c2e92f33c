// The error that a failed or cancelled run ends with.
import type { TerminationReason, Trajectory } from '../types/turnwise.js';

/**
 * The reason why a run has no result.
 *
 * @example
 * catch (error) { if (error.reason === 'cancelled') return; }
 */
export type FailureReason = TerminationReason | 'guardrail' | 'output_invalid' | 'skills' | 'storage' | 'worker_lost';

/**
 * A run failed or was cancelled. `trajectory` has everything it did until then.
 *
 * @example
 * try {
 *   await agent.generate('Hello');
 * } catch (error) {
 *   if (error instanceof TurnwiseError) console.log(error.reason, error.slugs, error.trajectory?.requests);
 * }
 */
export class TurnwiseError extends Error {
  override readonly name = 'TurnwiseError';
  /** The run's `termination_reason`, or why the run could not start or its answer was not accepted. */
  readonly reason: FailureReason;
  /** The slugs of the failure, most significant first. Documented in "How a run works". */
  readonly slugs: string[];
  /** The record of the run, if there is one. Not enumerable, so that a console shows the message and not the record. */
  declare readonly trajectory: Trajectory | undefined;

  constructor(reason: FailureReason, message: string, details: { slugs?: string[]; trajectory?: Trajectory; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.slugs = details.slugs ?? [];
    Object.defineProperty(this, 'trajectory', { value: details.trajectory });
  }

  /**
   * Of a run that was cancelled while a reply streamed in: the text that had arrived. It is part of no conversation. Otherwise empty.
   *
   * @example
   * if (error.reason === 'cancelled') show(error.partialText);
   */
  get partialText(): string {
    return this.reason === 'cancelled' ? this.trajectory?.turns.at(-1)?.attempts.at(-1)?.partial?.content ?? '' : '';
  }

  static {
    // Consoles show the name of the class, which bundlers shorten.
    Object.defineProperty(this, 'name', { value: 'TurnwiseError' });
  }
}

/** The error of a run that ended without success, from its record. @internal */
export function errorOf(trajectory: Trajectory): TurnwiseError {
  const reason = trajectory.termination_reason ?? 'llm_error';
  const slugs = trajectory.turns.at(-1)?.attempts.at(-1)?.slugs ?? [];
  const message = reason === 'cancelled' ? 'The run was cancelled.' : trajectory.error ?? trajectory.output ?? `The run ended with ${reason}.`;
  return new TurnwiseError(reason, message, { slugs: [...slugs], trajectory });
}

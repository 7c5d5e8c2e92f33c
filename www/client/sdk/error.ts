// The error that a failed or cancelled run ends with.
import type { TerminationReason, Trajectory } from '../types/turnwise.js';

/** Why a run gave no result. */
export type FailureReason = TerminationReason | 'guardrail' | 'output_invalid' | 'worker_lost';

/** A run that failed or was cancelled. Whatever it did until then is in `trajectory`. */
export class TurnwiseError extends Error {
  override readonly name = 'TurnwiseError';
  /** The run's `termination_reason`, or what kept the run from starting or its answer from being accepted. */
  readonly reason: FailureReason;
  /** What failed, the most telling slug first. Documented in "How a run works". */
  readonly slugs: string[];
  /** The record of the run; nothing where there was none. */
  readonly trajectory: Trajectory | undefined;

  constructor(reason: FailureReason, message: string, details: { slugs?: string[]; trajectory?: Trajectory; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.slugs = details.slugs ?? [];
    this.trajectory = details.trajectory;
  }
}

/** The error of a run that ended without success, from its record. */
export function errorOf(trajectory: Trajectory): TurnwiseError {
  const reason = trajectory.termination_reason ?? 'llm_error';
  const slugs = trajectory.turns.at(-1)?.attempts.at(-1)?.slugs ?? [];
  const message = reason === 'cancelled' ? 'The run was cancelled.' : trajectory.error ?? trajectory.output ?? `The run ended with ${reason}.`;
  return new TurnwiseError(reason, message, { slugs: [...slugs], trajectory });
}

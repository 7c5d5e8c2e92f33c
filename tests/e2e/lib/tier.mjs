// What `make test` leaves for `make test-all`, so that it stays well within its limit. Nothing is left out of a file that is run by itself:
// only .ci/test.mjs without --all sets TURNWISE_SHORT. .ci/e2e.mjs counts what is left.
export const SHORT = Boolean(process.env.TURNWISE_SHORT);

/** The reason of a test that is skipped because it is left, which is not counted as skipped. */
export const LEFT = 'left for make test-all';

/** For the option `skip` of a test that only `make test-all` runs. */
export const left = SHORT ? LEFT : undefined;

/** Says that a test leaves `n` of its cases. */
export function sayLeft(t, n, what) {
  if (n) t.diagnostic(`${n} ${what} ${LEFT}`);
}

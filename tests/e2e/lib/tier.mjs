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

/**
 * For the option `skip` of a test that is walked through in each look ('wide', 'phone-dark'): `make test` walks through it on the wide
 * screen. What it keeps of phones are app_tasks_phone, app_permissions, app_axe, app_demo, widget_phone and tests of phones alone.
 */
export const leftIn = (look) => (look.startsWith('phone') ? left : undefined);

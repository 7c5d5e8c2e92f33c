// What a command line that is invalid is answered with: what was given, what is taken, and what was probably meant.
import { spawnSync } from 'node:child_process';

/** The command line is invalid: the exit code is 2. `lines`: more about it, one line each. */
export class Usage extends Error {
  constructor(message, lines = []) {
    super(message);
    this.lines = lines;
  }
}

export const fault = (text, lines) => { throw new Usage(text, lines); };

/** Removes characters that would move a terminal's cursor or break a line. */
export const plain = (text) => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');

/** The most similar of some names, or the only one that it begins, or `undefined`. */
export function nearest(wrong, names) {
  const begun = wrong.length > 2 ? names.filter((name) => name.startsWith(wrong)) : [];
  if (begun.length === 1) return begun[0];
  const [best] = names.map((name) => [distance(wrong.toLowerCase(), name.toLowerCase()), name]).sort((a, b) => a[0] - b[0]);
  return best && best[0] <= Math.max(1, Math.floor(wrong.length / 2.5)) ? best[1] : undefined;
}

/** How many letters to change, add, leave out, or swap with the next one. */
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? rows[i - 2][j - 2] + 1 : Infinity;
      rows[i][j] = Math.min(rows[i][j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1), swapped);
    }
  }
  return rows[a.length][b.length];
}

/** `; did you mean …?`, or nothing. */
export function meant(wrong, names, shown = (name) => name) {
  const near = nearest(wrong, names);
  return near === undefined ? '' : `; did you mean ${shown(near)}?`;
}

/** The whole number that an option has, `least` or more, or `otherwise` if it is not given. */
export function whole(values, name, least, otherwise, most = 999_999_999_999_999) {
  const given = values[name];
  if (given === undefined) return otherwise;
  const range = most < 999_999_999_999_999 ? `from ${least} to ${most}` : `${least} or more`;
  return /^\d{1,15}$/.test(given) && Number(given) >= least && Number(given) <= most ? Number(given) : fault(`--${name} takes a whole number, ${range}; got ${given}`);
}

/** The number that an option has, from `least` to `most`. */
export function amount(values, name, least, most, otherwise) {
  const given = values[name];
  if (given === undefined) return otherwise;
  return /^\d+(\.\d+)?$/.test(given) && Number(given) >= least && Number(given) <= most ? Number(given) : fault(`--${name} takes a number from ${least} to ${most}; got ${given}`);
}

/** Refuses a value that is not one of the known ones. */
export function oneOf(values, name, known) {
  const given = values[name];
  if (given !== undefined && !known.includes(given)) fault(`--${name} takes ${known.slice(0, -1).join(', ')} or ${known.at(-1)}; got ${given}${meant(given, known)}`);
  return given;
}

/** Writes lines to the standard output. */
export const print = (lines) => process.stdout.write(`${lines.join('\n')}\n`);

/** The key in an environment variable: the one that `--api-key-env` names, or another. What was given is not repeated: it may be a key. */
export function keyFrom(given, otherwise, fail = fault) {
  if (given !== undefined && !/^[A-Z][A-Z0-9_]*$/.test(given)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(given) || !process.env[given]) fail('--api-key-env takes the name of an environment variable that holds the key, such as OPENAI_API_KEY, and not the key');
  }
  const name = given ?? otherwise;
  return process.env[name] || fail(`the environment variable ${name} is not set: it has to hold the key; a key is never an argument${given === undefined ? ' (--api-key-env names another variable)' : ''}`);
}

const LOOK_MS = 500;
/**
 * Resolves when the command is interrupted or asked to end, or when npx has gone, which passes on only some of what ends it. Call it
 * before saying that the command runs.
 */
export const interrupted = () => new Promise((resolve) => {
  process.once('SIGINT', resolve).once('SIGTERM', resolve);
  // Without npm the parent may be a shell that was left on purpose.
  if (process.env.npm_command === undefined) return;
  const parent = process.ppid;
  // npx starts a shell, which starts this, and outlives npx.
  const before = shellsParent(parent);
  setInterval(() => { if (process.ppid !== parent || (before && !lives(before))) resolve(); }, LOOK_MS).unref();
});

/** The parent of a process that is a shell; `undefined` for another program, or where there is no `ps`. */
function shellsParent(pid) {
  if (process.platform === 'win32') return undefined;
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' });
  return /^\s*(\d+)\s+(?:\S*\/)?-?(?:ba|da|a|k|z)?sh\s*$/.exec(stdout ?? '')?.[1];
}

/** Whether there is a process with this id. */
export function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

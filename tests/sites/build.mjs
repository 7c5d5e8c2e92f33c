// node tests/sites/build.mjs [KIND…] [--force | --list]: builds real documentation sites with the widget's tag, each with
// its own generator, into target/test-sites/<kind>/site. Does nothing if nothing changed. TURNWISE_EMBED sets where the tag
// loads the launcher from: a URL, or a path from the site's root (turnwise/embed.js).
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { KINDS } from './kinds.mjs';

const here = import.meta.dirname;
export const OUT = process.env.TEST_SITES ?? path.resolve(here, '../../target/test-sites');
const pins = JSON.parse(readFileSync(path.join(here, 'pins.json'), 'utf8'));

const walk = (dir) => readdirSync(dir, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)).sort();

/** A hash of everything that a site is made of. */
function inputs(kind, embed) {
  const hash = createHash('sha256').update(JSON.stringify([pins[kind], pins.before, embed, String(KINDS[kind])]));
  for (const file of walk(path.join(here, 'config', kind))) hash.update(file.slice(here.length)).update(readFileSync(file));
  return hash.digest('hex');
}

const filesOf = (dir, extension) => walk(dir).filter((file) => file.endsWith(extension)).map((file) => path.relative(dir, file));
export const htmlFiles = (dir) => filesOf(dir, '.html');
/** The Markdown that a page renders in the browser. */
export const markdownFiles = (dir) => filesOf(dir, '.md').filter((file) => !path.basename(file).startsWith('_'));

/** Builds one site if necessary; resolves with its folder. */
export async function build(kind, { force = false } = {}) {
  const embed = process.env.TURNWISE_EMBED ?? 'turnwise/embed.js';
  const dir = path.join(OUT, kind);
  const site = path.join(dir, 'site');
  const stamp = path.join(dir, 'stamp');
  const wanted = inputs(kind, embed);
  if (!force && existsSync(site) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { site, seconds: 0 };
  const began = performance.now();
  mkdirSync(dir, { recursive: true });
  rmSync(stamp, { force: true });
  rmSync(site, { recursive: true, force: true });
  await KINDS[kind]({
    pins: pins[kind],
    before: pins.before,
    dir,
    config: path.join(here, 'config', kind),
    site,
    /** The launcher's URL for a page from which `prefix` leads to the site's root. */
    embed: (prefix) => (/^(\/|[a-z]+:)/.test(embed) ? embed : prefix + embed),
  });
  writeFileSync(stamp, wanted);
  return { site, seconds: (performance.now() - began) / 1000 };
}

if (process.argv[1] === import.meta.filename && process.argv.includes('--list')) {
  console.log(Object.keys(KINDS).join(' '));
} else if (process.argv[1] === import.meta.filename) {
  const kinds = process.argv.slice(2).filter((name) => !name.startsWith('-'));
  for (const kind of kinds.length ? kinds : Object.keys(KINDS)) {
    const { site, seconds } = await build(kind, { force: process.argv.includes('--force') });
    const markdown = markdownFiles(site);
    const files = [...htmlFiles(site), ...markdown];
    const size = files.reduce((sum, file) => sum + statSync(path.join(site, file)).size, 0);
    console.log(`${kind.padEnd(10)} ${String(files.length - markdown.length).padStart(5)} HTML files,${markdown.length ? ` ${markdown.length} Markdown files,` : ''} ${(size / 1e6).toFixed(1).padStart(5)} MB  ${seconds ? `built in ${seconds.toFixed(0)} s` : 'as it was'}  ${pins[kind].content}`);
  }
}

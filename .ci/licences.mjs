// node .ci/licences.mjs PACKAGES FILE [NPM…]: writes the licences of all crates that those packages link into modules for pages.
// Crates that only run during the build (procedural macros, build scripts) are not shipped, so they are not listed.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [modules, file, ...npm] = process.argv.slice(2);
const metadata = JSON.parse(execFileSync('cargo', [
  'metadata', '--quiet', '--locked', '--format-version', '1', '--filter-platform', 'wasm32-unknown-unknown', '--no-default-features',
], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] }));

const packages = new Map(metadata.packages.map((one) => [one.id, one]));
const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
const linked = new Set();
const visit = (id) => {
  if (linked.has(id) || packages.get(id).targets.some(({ kind }) => kind.includes('proc-macro'))) return;
  linked.add(id);
  for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) if (kinds.some(({ kind }) => kind === null)) visit(pkg);
};
for (const name of modules.split(',')) visit(metadata.packages.find((one) => one.name === name).id);
// Our own crates have the licence of the whole.
for (const id of metadata.workspace_members) linked.delete(id);

/** Returns the licence texts that a crate ships, sorted by file name. */
function texts(one) {
  const folder = path.dirname(one.manifest_path);
  const names = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice|unlicense|copyright)/i.test(name)).sort();
  const found = names.map((name) => {
    try {
      return readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim();
    } catch {
      return ''; // a folder with that name
    }
  });
  return found.filter(Boolean);
}

const rows = [...linked].map((id) => packages.get(id)).sort((a, b) => (a.name < b.name ? -1 : 1));
const unnamed = rows.filter(({ license, license_file: own }) => !license && !own);
if (unnamed.length) throw new Error(`no licence is named by ${unnamed.map(({ name }) => name).join(', ')}`);

// Many crates share exactly the same text: each text is listed once, with the crates that it belongs to.
const byText = new Map();
for (const one of rows) for (const text of texts(one)) byText.set(text, [...(byText.get(text) ?? []), `${one.name} ${one.version}`]);

const list = rows.map((one) => `${one.name} ${one.version}: ${one.license ?? 'see its text'}${one.repository ? `, ${one.repository}` : ''}`);
const sections = [...byText].map(([text, of]) => `${'-'.repeat(80)}\n${of.join(', ')}\n\n${text}\n`);
// Packages bundled from npm (.ci/package.json).
for (const name of npm) {
  const folder = path.join(import.meta.dirname, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  list.push(`${name} ${version} (npm): ${license}`);
  sections.push(...texts({ manifest_path: path.join(folder, 'package.json') }).map((text) => `${'-'.repeat(80)}\n${name} ${version}\n\n${text}\n`));
}
// What was copied: data that the tables of models are made from (.ci/families.mjs), and icons.
for (const notice of ['crates/llm/src/models/NOTICES.txt', 'crates/ui/src/components/icons.txt']) {
  sections.push(`${'-'.repeat(80)}\n${readFileSync(path.join(import.meta.dirname, '..', notice), 'utf8')}`);
}
writeFileSync(file, `Turnwise contains parts of these ${rows.length + npm.length} packages.\n\n${list.join('\n')}\n\n${sections.join('\n')}`);

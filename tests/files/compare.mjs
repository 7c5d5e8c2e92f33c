// node tests/files/compare.mjs SITE FOLDER: converts every document in FOLDER (tests/files/fetch.mjs) with the parts of SITE's worker, and compares the
// words found with those of the format's usual reader (reference.py). UPDATE=1 writes the table of docs/files.md; otherwise the
// command fails if a figure differs from the table's, apart from the times.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [site, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const root = path.resolve(import.meta.dirname, '../..');
const page = path.join(root, 'docs/files.md');
await import(pathToFileURL(path.join(site, 'turnwise/worker.js')).href); // outside of a worker thread it only defines its parts
const parts = globalThis.turnwiseParts;

const files = readdirSync(folder).filter((name) => /^(npm|pypi|debian) /.test(name)).sort()
  .flatMap((name) => readdirSync(path.join(folder, name)).sort().map((file) => ({ source: name, file, at: path.join(folder, name, file) })));

/** How often each word occurs. Words are runs of letters and digits, without regard to case and ligatures. */
function words(text) {
  const counts = new Map();
  for (const word of text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
const total = (counts) => [...counts.values()].reduce((sum, count) => sum + count, 0);
const shared = (one, other) => [...one].reduce((sum, [word, count]) => sum + Math.min(count, other.get(word) ?? 0), 0);

const { stdout } = spawnSync(path.join(folder, 'venv/bin/python'), [path.join(import.meta.dirname, 'reference.py')], {
  input: files.map(({ at }) => at).join('\n'), encoding: 'utf8', maxBuffer: 1 << 30,
});
const references = stdout.trim().split('\n').map((line) => JSON.parse(line));

const MARK = /^\[(page|slide|sheet) [^\]]*\]$|^\| row \|.*$|^\|( --- \|)+$/gm;
const rows = [];
for (const [index, one] of files.entries()) {
  const bytes = new Uint8Array(readFileSync(one.at));
  const began = performance.now();
  let text;
  let said;
  try {
    const pdf = Buffer.from(bytes.subarray(0, 1024)).includes('%PDF-');
    const document = JSON.parse(await (pdf ? parts.pdf(bytes.slice()) : parts.convert(bytes, one.file)));
    ({ text } = document);
    said = document.notes.join('; ');
  } catch (error) {
    said = String(error?.message ?? error);
  }
  const ms = performance.now() - began;
  const reference = references[index];
  const [ours, theirs] = [words((text ?? '').replace(MARK, '')), words(reference.text ?? '')];
  const found = total(theirs) ? shared(theirs, ours) / total(theirs) : undefined;
  rows.push({ ...one, kind: path.extname(one.file).slice(1).toLowerCase(), bytes: bytes.length, ms, text, said, reference, theirs: total(theirs), ours: total(ours), found });
}

const compared = rows.filter(({ found }) => found !== undefined);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const KINDS = { pdf: 'pdftotext', docx: 'python-docx', pptx: 'python-pptx', xlsx: 'openpyxl', xls: 'xlrd', odt: 'odfpy', ods: 'odfpy', odp: 'odfpy', ott: 'odfpy', ots: 'odfpy', otp: 'odfpy' };
const GROUPS = [['PDF', /pdf/], ['DOCX', /docx/], ['PPTX', /pptx/], ['XLSX', /xlsx/], ['XLS', /^xls$/], ['ODT', /od?tt$|odt/], ['ODS', /ods|ots/], ['ODP', /odp|otp/]];
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const table = ['| format | files | reference | words of the reference | found | files with all words | median time |', '| --- | --- | --- | --- | --- | --- | --- |'];
for (const [name, kinds] of GROUPS) {
  const of = compared.filter(({ kind }) => kinds.test(kind));
  if (!of.length) continue;
  const sum = of.reduce((all, { theirs }) => all + theirs, 0);
  const hits = of.reduce((all, { theirs, found }) => all + theirs * found, 0);
  table.push(`| ${name} | ${of.length} | ${KINDS[of[0].kind]} | ${sum.toLocaleString('en-US')} | ${percent(hits / sum)} | ${of.filter(({ found }) => found === 1).length} | ${median(of.map(({ ms }) => ms)).toFixed(0)} ms |`);
}
const worst = [...compared].sort((a, b) => a.found - b.found).slice(0, 10);
const silent = rows.filter(({ text, reference }) => text === undefined && !reference.text?.trim());

console.log(table.join('\n'));
console.log(`\n${rows.length} files, ${compared.length} compared`);
for (const { source, file, found, theirs, ours, said } of worst) console.log(`${percent(found).padStart(8)}  ${theirs} words, ours ${ours}  ${source}/${file}  ${said ?? ''}`);
console.log('\nWithout text for both, or refused by both:');
for (const { source, file, said, reference } of silent) console.log(`  ${source}/${file}: ${said} | ${reference.error ?? 'no text'}`);
console.log('\nRead by us only:');
for (const { source, file, ours, reference } of rows) if (ours && reference.error) console.log(`  ${source}/${file}: ${ours} words | ${reference.error}`);

const BEGIN = '<!-- table of tests/files/compare.mjs -->';
const END = '<!-- end of the table -->';
const written = `${BEGIN}\n${table.join('\n')}\n${END}`;
const text = readFileSync(page, 'utf8');
if (process.env.UPDATE) {
  writeFileSync(page, text.replace(new RegExp(`${BEGIN}[^]*${END}`), () => written));
} else {
  // The times differ from run to run.
  const figures = (lines) => lines.split('\n').map((line) => line.replace(/\|[^|]*\|$/, ''));
  const known = figures(text.match(new RegExp(`${BEGIN}[^]*${END}`))?.[0] ?? '');
  const lost = figures(written).filter((line) => line.startsWith('| ') && !known.includes(line));
  if (lost.length) {
    console.log(`\nThese rows differ from docs/files.md (UPDATE=1 writes them):\n${lost.join('\n')}`);
    process.exitCode = 1;
  }
}

// node tests/files/compare.mjs SITE FOLDER [FILE]: reads every file in FOLDER (tests/files/fetch.mjs) with `read_file` of the package in SITE, as a model
// would, and compares the words in the answers with those of the format's usual reader (reference.py). UPDATE=1 writes the table of
// docs/files.md; otherwise the command fails if a figure differs from the table's, apart from the times.
// With FILE, a part of a path: prints for each such file what the answer says of it, and the words that were lost.
import { spawn } from 'node:child_process';
import { text as whole } from 'node:stream/consumers';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [site, folder] = process.argv.slice(2, 4).map((name) => path.resolve(name));
const only = process.argv[4];
const page = path.resolve(import.meta.dirname, '../../docs/files.md');
const { Agent, custom } = await import(pathToFileURL(path.join(site, 'turnwise/index.node.js')).href);

const files = readdirSync(folder).filter((name) => /^(npm|pypi|crates|debian|debian-source) /.test(name)).sort()
  .flatMap((source) => readdirSync(path.join(folder, source), { recursive: true }).sort().map((file) => ({ source, file, at: path.join(folder, source, file) })))
  .filter(({ source, file, at }) => path.basename(file) !== '.chosen' && statSync(at).isFile() && `${source}/${file}`.includes(only ?? ''));

/** How often each word occurs. Words are runs of letters and digits, without regard to case, ligatures, soft hyphens and the T between day and time. */
function words(text) {
  const counts = new Map();
  for (const word of text.normalize('NFKC').replaceAll('\u00AD', '').replace(/(?<=\d)T(?=\d)/g, ' ').toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
const total = (counts) => [...counts.values()].reduce((sum, count) => sum + count, 0);
/** The words of `theirs` that `ours` has less often, and how many are missing of each. */
const missing = (theirs, ours) => new Map([...theirs].map(([word, count]) => [word, count - (ours.get(word) ?? 0)]).filter(([, count]) => count > 0));

/** An agent with one file and a model that makes the calls that `next` resolves to, one after the other; `undefined` ends its run. */
function scripted(name, bytes, next) {
  let calls = 0;
  const model = custom(async () => {
    const call = await next();
    calls += 1;
    const message = call
      ? { role: 'assistant', content: null, tool_calls: [{ id: `call_${calls}`, type: 'function', function: { name: call[0], arguments: JSON.stringify(call[1]) } }] }
      : { role: 'assistant', content: 'Done.' };
    return { id: 'x', object: 'chat.completion', model: 'scripted', choices: [{ index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  }, { model: 'scripted' });
  const agent = new Agent({ model, files: { [name]: new Blob([bytes]) }, builtInTools: ['read_file', 'query_table'], maxTurns: 5000, limits: { maxResultChars: 100_000_000, toolTimeoutMs: 120_000 } });
  return agent.stream('Read it.');
}

/**
 * All of a file, as `read_file` shows it in as many calls as it needs: `{ text, head, error }`. `head` is the line above a document that says what
 * it is and what was not read of it; `error` is the sentence about a file that has no text.
 */
async function read(name, bytes) {
  const parts = [];
  let head;
  let error;
  // The model asks for the next lines when it knows the answer before.
  let call = Promise.resolve(['read_file', { path: name, limit: 2000 }]);
  let goOn;
  const run = scripted(name, bytes, async () => {
    const now = await call;
    call = new Promise((resolve) => { goOn = resolve; });
    return now;
  });
  for await (const part of run) {
    if (part.type !== 'tool-result') continue;
    let answer = part.output;
    if (part.isError) {
      error = answer;
      goOn();
      continue;
    }
    if (!parts.length && answer.startsWith(`[${name}: `)) {
      head = answer.slice(0, answer.indexOf('\n'));
      answer = answer.slice(head.length);
    }
    const more = /\n?\[lines \d+-\d+ of \d+(?:; continue with offset (\d+))?\]$/.exec(answer);
    parts.push(more ? answer.slice(0, more.index) : answer);
    goOn(more?.[1] ? ['read_file', { path: name, offset: Number(more[1]), limit: 2000 }] : undefined);
  }
  await run.then(() => undefined, (failure) => { error ??= String(failure?.message ?? failure); });
  return { text: parts.join('\n'), head, error };
}

/** The cells of a table, as `query_table` gives them, and what it says: `{ cells, answer, error }`. */
async function query(name, bytes) {
  const calls = [['query_table', { sql: `SELECT * FROM "${name}"`, save_as: 'whole.json' }]];
  const run = scripted(name, bytes, () => calls.shift());
  let answer;
  let error;
  for await (const part of run) if (part.type === 'tool-result') (part.isError ? error = part.output : answer = part.output);
  const { files } = await run;
  const whole = await files.get('whole.json');
  const rows = whole === undefined ? [] : JSON.parse(typeof whole === 'string' ? whole : await whole.text());
  return { cells: rows.flatMap((row, at) => [...(at ? [] : Object.keys(row)), ...Object.values(row)]), answer, error };
}
/** How often each cell occurs. Numbers are the same in any form, and what is empty is not counted. */
function cellCounts(cells) {
  const counts = new Map();
  for (const cell of cells) {
    const plain = String(cell ?? '').trim();
    const known = plain && Number.isFinite(Number(plain)) ? String(Number(plain)) : plain;
    if (known) counts.set(known, (counts.get(known) ?? 0) + 1);
  }
  return counts;
}

/** The lines of reference.py, which reads while the tools do. */
const python = spawn(path.join(folder, 'venv/bin/python'), [path.join(import.meta.dirname, 'reference.py')], {
  env: { ...process.env, ANTIWORD: path.join(folder, 'antiword'), PYTHONIOENCODING: 'utf8' }, stdio: ['pipe', 'pipe', 'ignore'],
});
python.stdin.end(files.map(({ at }) => at).join('\n'));
const printed = whole(python.stdout);

/** Places, and what the rows of sheets have around their cells. */
const MARK = /^\[(page|slide|sheet) [^\]]*\]$|^\| row \|.*$|^\|( --- \|)+$/gm;
/** A sentence at its place about something that was not read: it is in brackets. */
const REMARK = /\[[^\][]*\b(not (read|shown|opened|known)|cannot|left out|omitted|missing|unreadable|hidden|guessed|empty|without (a )?(text|values?))\b[^\][]*\]/i;

/**
 * The file's group in the table. The ending of a file says what its test calls it; `page.html.xls` has a name that lies.
 */
function group(file) {
  const [inner, end] = path.basename(file).toLowerCase().split('.').slice(-2);
  if (/^(html|csv|tsv|eml)$/.test(inner)) return 'LYING';
  return { jsonl: 'json', ott: 'odt', ots: 'ods', otp: 'odp', htm: 'html', tsv: 'csv', srt: 'txt', xml: 'txt', xlsm: 'xlsx', mht: 'eml' }[end] ?? end;
}

const answers = [];
for (const one of files) {
  const bytes = new Uint8Array(readFileSync(one.at));
  const began = performance.now();
  answers.push({ ...await read(path.basename(one.file), bytes), ms: performance.now() - began });
  if (/\.[ct]sv$/.test(one.file)) {
    const before = performance.now();
    answers.at(-1).table = { ...await query(path.basename(one.file), bytes), ms: performance.now() - before };
  }
}
const references = (await printed).trim().split('\n').map((line) => JSON.parse(line));
if (references.length !== files.length) throw new Error(`reference.py answered for ${references.length} of ${files.length} files`);

const rows = files.flatMap((one, index) => {
  const { text, head, error, ms } = answers[index];
  const reference = references[index];
  const [ours, theirs] = [words(text.replace(MARK, '')), words(reference.text ?? '')];
  const lost = missing(theirs, ours);
  // The notes of a document are behind the number of its lines.
  // Above a text there is a line only if its encoding or its characters are worth a word.
  const note = error ?? (head?.replace(/^.*?\d+ lines of text(; )?/, '').replace(/\]$/, '') || /: text in .*/.exec(head)?.[0] || REMARK.exec(text)?.[0]);
  const compared = { ...one, kind: group(one.file), ms, text, note, head, reference, ours: total(ours), theirs: total(theirs), lost, gone: total(lost), silent: !text.trim() };
  const { table } = answers[index];
  if (!table) return [compared];
  const [got, cells] = [cellCounts(table.cells), cellCounts(reference.cells ?? [])];
  const less = missing(cells, got);
  const remark = table.error ?? REMARK.exec(table.answer ?? '')?.[0];
  return [compared, { ...one, kind: 'TABLE', ms: table.ms, text: table.answer ?? '', note: remark, reference, ours: total(got), theirs: total(cells), lost: less, gone: total(less), silent: !got.size }];
});

if (only) {
  for (const { source, file, head, note, text, reference, ours, theirs, lost, gone } of rows) {
    console.log(`${source}/${file}\n  answer: ${ours} words; ${head ?? ''} ${note ?? ''}`);
    console.log(`  begins: ${JSON.stringify(text.trim().slice(0, 300))}`);
    console.log(`  reference: ${reference.error ?? `${theirs} words; begins ${JSON.stringify(reference.text.trim().slice(0, 300))}`}`);
    console.log(`  lost: ${gone}${gone ? `: ${[...lost].map(([word, count]) => (count > 1 ? `${word} ×${count}` : word)).join(' ')}` : ''}`);
  }
  process.exit();
}

const GROUPS = [
  ['PDF', 'pdf', 'pdftotext'], ['DOCX', 'docx', 'python-docx'], ['DOC', 'doc', 'antiword'], ['RTF', 'rtf', 'striprtf'], ['ODT', 'odt', 'odfpy'], ['EPUB', 'epub', 'EbookLib'],
  ['PPTX', 'pptx', 'python-pptx'], ['ODP', 'odp', 'odfpy'], ['XLSX', 'xlsx', 'openpyxl'], ['XLSB', 'xlsb', 'pyxlsb'], ['XLS', 'xls', 'xlrd'], ['ODS', 'ods', 'odfpy'],
  ['CSV, TSV', 'csv', 'Python'], ['CSV, TSV with `query_table`, in cells', 'TABLE', 'Python'], ['JSON', 'json', 'Python'], ['text, XML', 'txt', 'Python, with the encoding that the test states'], ['HTML', 'html', 'Beautiful Soup'],
  ['mail', 'eml', 'Python'], ['HTML, CSV with the ending of another format', 'LYING', 'Beautiful Soup, Python'], ['ZIP', 'zip', 'Python'],
];
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const number = (value) => value.toLocaleString('en-US');
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const table = ['| format | files | reference | words of the reference | found | words lost | files with losses or without text | of these, the answer says so | median time |', `|${' --- |'.repeat(9)}`];
for (const [name, kind, reader] of GROUPS) {
  const of = rows.filter((row) => row.kind === kind);
  if (!of.length) continue;
  const [theirs, gone] = [of.reduce((sum, row) => sum + row.theirs, 0), of.reduce((sum, row) => sum + row.gone, 0)];
  const less = of.filter((row) => row.gone || row.silent);
  table.push(`| ${name} | ${of.length} | ${reader} | ${number(theirs)} | ${percent(theirs ? 1 - gone / theirs : 1)} | ${number(gone)} | ${less.length} | ${less.filter(({ note }) => note).length} | ${median(of.map(({ ms }) => ms)).toFixed(0)} ms |`);
}

console.log(table.join('\n'));
const texts = rows.filter(({ kind }) => kind !== 'TABLE');
console.log(`\n${files.length} files, ${texts.filter(({ theirs }) => theirs).length} with words of the reference, ${texts.filter(({ theirs, gone }) => theirs && !gone).length} of them with all words`);
for (const [name, kind] of GROUPS) {
  const of = rows.filter((row) => row.kind === kind && row.gone).sort((a, b) => b.gone / b.theirs - a.gone / a.theirs);
  if (of.length) console.log(`\n${name}: words lost`);
  for (const { source, file, theirs, ours, gone, note, lost } of of) console.log(`${percent(1 - gone / theirs).padStart(8)}  ${gone} of ${theirs} words lost, ours ${ours}  ${source}/${file}  ${note ?? ''}\n          ${[...lost.keys()].slice(0, 12).join(' ')}`);
}
console.log('\nWithout text, and without words of the reference:');
for (const { source, file, note, reference } of rows.filter(({ silent, theirs }) => silent && !theirs)) console.log(`  ${source}/${file}: ${note ?? 'NOTHING SAID'} | ${reference.error ?? 'no text'}`);
console.log('\nRefused by the reference only:');
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
  const differ = figures(written).filter((line) => line.startsWith('| ') && !known.includes(line));
  if (differ.length) {
    console.log(`\nThese rows differ from docs/files.md (UPDATE=1 writes them):\n${differ.join('\n')}`);
    process.exitCode = 1;
  }
}

// `turnwise view`: the records of a folder as pages, on this machine only. A list, and the HTML report of each record, made when it is
// opened. Nothing but the records that the list has can be read, by pages of this server only, and nothing can be changed.
import { readFile, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { exportTrajectory, summarize } from './node.js';
import { askEach, inParallel, message, notThere, readText, recordFiles } from './cli-files.mjs';
import { ENDINGS, exported } from './cli-export.mjs';
import { counted, dollars, duration, whole as counter } from './cli-stats.mjs';
import { fault, interrupted, plain, print, whole } from './cli-usage.mjs';

const PAGE = 200;
const AT_ONCE = 8;
const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin', 'cross-origin-opener-policy': 'same-origin', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store',
};

/** Serves until it is interrupted; returns the exit code. */
export async function view({ values, positionals }) {
  if (positionals.length > 1) fault(`name one folder of records; got ${positionals.join(', ')}`);
  const [folder = 'runs'] = positionals;
  const info = await stat(folder).catch(() => undefined);
  if (!info) fault(`${folder}: ${await notThere(folder)}`);
  if (!info.isDirectory()) fault(`view takes a folder; ${folder} is a file. turnwise export ${folder} --format html --out . makes a page of it`);
  const { files } = await recordFiles([folder]);
  if (!files.length) fault(`${folder} has no records (.json, .json.gz): turnwise run writes them`);
  const server = http.createServer((request, response) => answer(folder, request, response));
  const port = await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(whole(values, 'port', 0, 0, 65535), '127.0.0.1', () => resolve(server.address().port));
  }).catch((error) => fault(`--port ${values.port}: ${error.code === 'EADDRINUSE' ? 'another program uses this port' : error.message}`));
  const ended = interrupted();
  print([`${folder} is at http://127.0.0.1:${port}/ (on this machine only; Ctrl-C ends it)`]);
  await ended;
  await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  return 0;
}

async function answer(folder, request, response) {
  const send = (status, text, type = 'text/plain', more = {}) => {
    response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8`, ...more });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  try {
    const refused = refusal(request);
    if (refused) return send(403, `${refused}\n`);
    if (!['GET', 'HEAD'].includes(request.method)) return send(405, 'There is only GET here.\n', 'text/plain', { allow: 'GET, HEAD' });
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    if (pathname === '/') return send(200, listPage(folder, await rows(folder), searchParams), 'text/html');
    if (pathname !== '/record') return send(404, 'There is no such page.\n');
    return await record(folder, searchParams, send);
  } catch (error) {
    return response.headersSent ? response.destroy() : send(500, `${message(error)}\n`);
  }
}

/** Why a request is refused: another name of this machine (a site that resolves to it), or another site's page. */
function refusal({ headers, socket }) {
  const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  if (!hosts.includes(headers.host)) return `This server answers at http://${hosts[0]}/ only.`;
  if (headers.origin !== undefined && !hosts.includes(headers.origin.replace(/^http:\/\//, ''))) return 'Pages of other sites may not read this.';
  if (!['same-origin', 'none', undefined].includes(headers['sec-fetch-site'])) return `Pages of other sites may not lead here: paste http://${hosts[0]}/ into the address field.`;
  return undefined;
}

/** Figures of a file's runs, made anew when the file changes. */
const known = new Map();

/** What `turnwise run` said of the runs in a folder, by file: `{ passed?, why? }`. */
async function verdictsIn(folder) {
  try {
    const { runs } = JSON.parse(await readFile(path.join(folder, 'summary.json'), 'utf8'));
    return new Map(runs.map(({ file, passed, why = null, not_scored: unscored }) => [path.join(folder, file), { passed, why: unscored ?? why }]));
  } catch {
    return new Map(); // The folder has none, or one of another command.
  }
}

/** The runs of a folder: `[{ file, step?, …figures, passed?, why? }]`, the newest first; files that cannot be read have an `error`. */
async function rows(folder) {
  const { files } = await recordFiles([folder]);
  const verdicts = await verdictsIn(folder);
  const found = await inParallel(files, AT_ONCE, async (file) => {
    const { mtimeMs, size } = await stat(file);
    const state = `${mtimeMs} ${size}`;
    if (known.get(file)?.state !== state) known.set(file, { state, ...(await askEach([file], summarize)) });
    const { answers, faults } = known.get(file);
    return [...answers.map(({ step, answer: figures }) => ({ ...figures, ...verdicts.get(file), file, step })), ...faults];
  });
  return found.flat().sort((a, b) => (b.started_ms ?? 0) - (a.started_ms ?? 0) || (a.file < b.file ? -1 : 1));
}

async function record(folder, asked, send) {
  // Only what the list has can be named, so no path leads out of the folder.
  const { files } = await recordFiles([folder]);
  const file = files.find((one) => path.relative(folder, one) === asked.get('file'));
  if (!file) return send(404, 'There is no such record in this folder.\n');
  const format = asked.get('format') ?? 'html';
  if (!Object.hasOwn(ENDINGS, format)) return send(400, `There is no such format; there are ${Object.keys(ENDINGS).join(', ')}.\n`);
  const step = asked.get('step');
  let text;
  try {
    const given = await readText(file);
    const run = step === null ? given : JSON.parse(given).steps?.find((one) => String(one?.order) === step)?.run;
    if (!run) return send(404, 'The plan has no such step.\n');
    text = typeof run === 'string' ? await exported(run, format) : await exportTrajectory(run, format);
  } catch (error) {
    return send(422, `${plain(asked.get('file'))} cannot be shown as a run. ${await otherKind(file) ?? plain(message(error))}\n`);
  }
  if (asked.has('format')) {
    const name = `${path.basename(file).replace(/\.json(\.gz)?$/, '')}${step === null ? '' : `-step-${step}`}${ENDINGS[format]}`;
    return send(200, text, 'application/octet-stream', { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` });
  }
  const verdict = judged((await verdictsIn(folder)).get(file), 'p style="margin:0;padding:0 16px 10px;font:14px/1.6 system-ui,sans-serif;overflow-wrap:anywhere"');
  return send(200, text.replace(/<body[^>]*>/, (body) => `${body}${bar(file, step, folder)}${verdict}`), 'text/html');
}

/** What a file is that is known and no run. */
async function otherKind(file) {
  const record = await readText(file).then(JSON.parse).catch(() => undefined);
  if (record?.format === 'turnwise-summary') return 'It is a summary of turnwise run or stats: the list has its verdicts.';
  return record?.format === 'turnwise-session' ? 'It is a plan: the list has a page for each of its steps.' : undefined;
}

const escaped = (text) => plain(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
const link = (folder, file, step, format) => escaped(`/record?${new URLSearchParams({ file: path.relative(folder, file), ...(step !== undefined && step !== null && { step }), ...(format && { format }) })}`);

const bar = (file, step, folder) => `<nav aria-label="Viewer" style="display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;padding:10px 16px;font:14px/1.6 system-ui,sans-serif"><a href="/" style="font-weight:600">All runs</a><span style="flex:1 1 auto;overflow-wrap:anywhere">${escaped(path.relative(folder, file))}</span><span>Download: ${Object.keys(ENDINGS).map((format) => `<a href="${link(folder, file, step, format)}" download>${format === 'native' ? 'record' : format}</a>`).join(', ')}</span></nav>`;

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d9dce1,#3a3f47);--soft:light-dark(#5c6370,#a3abb8);--link:light-dark(#0b57d0,#8ab4ff);--good:light-dark(#146c2e,#7fd89a);--bad:light-dark(#b3261e,#ff9d94);--mid:light-dark(#8a5a00,#f2c266);--card:light-dark(#fff,#1c1f24);background:light-dark(#f6f7f9,#14161a)}
*{box-sizing:border-box}body{margin:0 auto;max-width:1200px;padding:24px 16px 48px;font:15px/1.5 system-ui,sans-serif;color:light-dark(#1b1e23,#e7eaef)}
h1{font-size:22px;margin:0;overflow-wrap:anywhere}p{margin:4px 0 16px;color:var(--soft)}a{color:var(--link)}a:focus-visible,:is(input,select,button):focus-visible{outline:2px solid var(--link);outline-offset:2px}
form{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 16px}input,select,button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px 12px;min-height:40px}input{flex:1 1 220px;min-width:0}
table{width:100%;border-collapse:collapse;background:var(--card);border:1px solid var(--line);border-radius:12px;overflow:hidden}th,td{padding:10px 12px;text-align:start;vertical-align:top;border-bottom:1px solid var(--line)}tr:last-child td{border-bottom:0}th{font-size:13px;font-weight:600;color:var(--soft)}
.n{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}td.task{width:44%;overflow-wrap:anywhere}.task a{font-weight:600}small{display:block;color:var(--soft);overflow-wrap:anywhere}.good{color:var(--good)}.bad{color:var(--bad)}.mid{color:var(--mid)}nav{display:flex;gap:16px;margin-top:16px}
@media(max-width:720px){table,tbody,tr,td{display:block}thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}tr{padding:10px 12px;border-bottom:1px solid var(--line)}tr:last-child{border:0}td,td.task{border:0;padding:0;width:auto}td.n,td.w{display:inline;text-align:start;color:var(--soft);font-size:14px}td.n:not(:empty)+td.n:not(:empty)::before,td.n:not(:empty)+td.n:empty+td.n:not(:empty)::before{content:" · "}}@media(min-width:721px){.u{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}}`;

/** What the list can be restricted to: outcomes of runs, and the verdicts of `turnwise run`. */
const STATES = ['success', 'partial', 'failed', 'cancelled', 'unfinished', 'case passed', 'case failed', 'not scored'];
const verdictOf = ({ passed }) => (passed === undefined ? '' : passed === null ? 'not scored' : passed ? 'case passed' : 'case failed');
/** The verdict of a case as an element, or nothing. */
function judged(row, tag = 'small') {
  const verdict = row && verdictOf(row);
  return verdict ? `<${tag} class="${row.passed ? 'good' : row.passed === false ? 'bad' : 'mid'}">${verdict}${row.why ? `: ${escaped(row.why)}` : ''}</${tag.split(' ')[0]}>` : '';
}
const COLOURS = { success: 'good', partial: 'mid', failed: 'bad' };

function listPage(folder, all, asked) {
  const words = (asked.get('text') ?? '').trim();
  const outcome = STATES.includes(asked.get('outcome')) ? asked.get('outcome') : '';
  const fits = (row) => (!outcome || (!row.error && [row.outcome ?? 'unfinished', verdictOf(row)].includes(outcome))) && `${row.title ?? ''} ${row.file} ${row.model ?? ''}`.toLowerCase().includes(words.toLowerCase());
  const shown = all.filter(fits);
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number.parseInt(asked.get('page') ?? '1', 10) || 1));
  const turn = (to, text) => (to >= 1 && to <= pages ? `<a href="/?${escaped(new URLSearchParams({ ...(words && { text: words }), ...(outcome && { outcome }), page: to }))}">${text}</a>` : '');
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Runs in ${escaped(folder)}</title><style>${STYLE}</style></head><body>
<main><h1>Runs in ${escaped(folder)}</h1><p>${shown.length === all.length ? '' : `${counter(shown.length)} of `}${counted(all.length, 'run')}</p>
<form action="/" role="search"><input type="search" name="text" value="${escaped(words)}" placeholder="Task, file or model" aria-label="Task, file or model"><select name="outcome" aria-label="Outcome"><option value="">All runs</option>${STATES.map((one) => `<option${one === outcome ? ' selected' : ''}>${one}</option>`).join('')}</select><button>Filter</button></form>
${shown.length ? `<table><thead><tr><th scope="col">Task</th><th scope="col">Outcome</th><th scope="col" class="n">Turns</th><th scope="col" class="n">Tokens</th><th scope="col" class="n">Cost</th><th scope="col" class="n">Time</th><th scope="col" class="n">Started</th></tr></thead><tbody>
${shown.slice((page - 1) * PAGE, page * PAGE).map((row) => tableRow(folder, row)).join('\n')}
</tbody></table>` : '<p>No run matches this filter. <a href="/">Show all</a></p>'}
${pages > 1 ? `<nav aria-label="Pages">${turn(page - 1, 'Newer')}<span>Page ${page} of ${pages}</span>${turn(page + 1, 'Older')}</nav>` : ''}</main></body></html>`;
}

function tableRow(folder, row) {
  const name = escaped(path.relative(folder, row.file));
  if (row.error) return `<tr><td class="task">${name}<small>${escaped(row.error)}</small></td><td class="w bad">cannot be read</td><td class="n"></td><td class="n"></td><td class="n"></td><td class="n"></td><td class="n"></td></tr>`;
  const { title, outcome, termination_reason: reason, total_turns: turns, tokens, cost, duration_ms: took, started_ms: at, step, provider, model } = row;
  return `<tr><td class="task"><a href="${link(folder, row.file, step)}">${escaped(title) || '(no task)'}</a><small>${name}${step === undefined ? '' : `, step ${step}`} · ${escaped([provider, model].filter(Boolean).join(' '))}</small></td>`
    + `<td class="w"><span class="${COLOURS[outcome] ?? ''}">${escaped(outcome ?? 'unfinished')}</span> <small>${escaped(reason ?? '')}</small>${judged(row)}</td>`
    + `<td class="n">${counter(turns)}<span class="u"> ${turns === 1 ? 'turn' : 'turns'}</span></td><td class="n">${counter(tokens.input + tokens.output)}<span class="u"> tokens</span></td><td class="n">${typeof cost === 'number' ? dollars(cost) : ''}</td><td class="n">${took === null || took === undefined ? '' : duration(took)}</td><td class="n">${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}</td></tr>`;
}

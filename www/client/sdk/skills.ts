// Reads skills in the format of https://agentskills.io: folders with a SKILL.md. Loads with the first skill.
//
// Skills in the field differ from the specification in many ways. What can be understood is taken, and each difference is a fault with
// its place; only a skill without a description or instructions is left out.
import { describe } from '../check.js';
import type { TrajectorySkill } from '../types/turnwise.js';
import { parseYaml } from './yaml.js';

/** The files of one or more skills, by path: `{ 'count/SKILL.md': text, 'count/scripts/submit.js': text }`. */
export type SkillFiles = Record<string, string | Blob | ArrayBuffer | Uint8Array>;

/** Files; a skill that was read before; an archive (ZIP or TAR, also packed by gzip); or the address of a `SKILL.md`, an archive, or a site's `index.json`. */
export type SkillSource = SkillFiles | Blob | URL | string | TrajectorySkill;

/** What is wrong with a skill, and what was done about it. */
export interface SkillFault {
  /** The skill's name, or its folder. */
  skill: string;
  /** The file. */
  path: string;
  /** A sentence for the author of the skill. */
  message: string;
  /** Whether the skill is left out. */
  skipped: boolean;
}

export interface ReadSkills {
  skills: TrajectorySkill[];
  faults: SkillFault[];
}

/** A skill that a site offers, not loaded yet. */
export interface OfferedSkill {
  name: string;
  description: string;
  url: string;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  /** Fetches the skill and checks its digest. Rejects if it differs. */
  load(): Promise<ReadSkills>;
}

export interface SkillOptions {
  signal?: AbortSignal;
}

/** Longest name and description, from the specification. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
/** A record holds the texts of its run's skills. */
const MAX_FILE = 256 * 1024;
const MAX_SKILL = 2 * 1024 * 1024;
const MAX_ARCHIVE = 32 * 1024 * 1024;
const MAX_FILES = 500;
/** Files that a SKILL.md at an address mentions and that are fetched with it. */
const MAX_MENTIONED = 50;

/** Fields of the specification, and of others that change nothing here. */
const FIELDS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];
/** Names of tools in the field's skills, and the built-in tool that does the same. */
const TOOLS: Record<string, string[]> = {
  Read: ['read_file'], Write: ['write_file'], Edit: ['edit_file'], Glob: ['list_files'], LS: ['list_files'], Grep: ['search_files'], WebFetch: ['fetch_url'], WebSearch: ['search_web'],
};

/**
 * Reads skills. Never rejects because of what a skill holds: see `faults`.
 *
 * Rejects with a `TypeError` for a source that is none, and with an `Error` if an address cannot be fetched.
 *
 * @example
 * const { skills, faults } = await readSkills({ 'count/SKILL.md': '---\nname: count\ndescription: Counts words.\n---\nCount them.' });
 */
export async function readSkills(sources: SkillSource | readonly SkillSource[], options: SkillOptions = {}): Promise<ReadSkills> {
  const read: ReadSkills = { skills: [], faults: [] };
  const list = (Array.isArray(sources) ? sources : [sources]) as readonly SkillSource[];
  for (const [at, source] of list.entries()) {
    for (const found of await open(source, `skills[${at}]`, options)) add(read, found);
  }
  return read;
}

/**
 * Lists the skills that a site offers in `/.well-known/agent-skills/index.json`. Nothing of them is fetched before `load()`.
 *
 * @example
 * const offered = await findSkills('https://example.org');
 * const { skills } = await offered[0].load();
 */
export async function findSkills(site: string | URL, { signal }: SkillOptions = {}): Promise<OfferedSkill[]> {
  const given = addressOf(site, 'site');
  const url = given.pathname.endsWith('.json') ? given : new URL('/.well-known/agent-skills/index.json', given);
  const index = new TextDecoder().decode(await limited(await get(url, signal)));
  let listed: unknown;
  try {
    ({ skills: listed } = JSON.parse(index) as { skills?: unknown });
  } catch {
    throw new Error(`${url.href}: it is not JSON, so it lists no skills`);
  }
  if (!Array.isArray(listed)) throw new Error(`${url.href}: expected { "skills": [...] }`);
  return listed.map((one, at) => offered(one, at, url, signal));
}

function offered(one: unknown, at: number, index: URL, signal: AbortSignal | undefined): OfferedSkill {
  const { name, description = '', url: address, digest } = (one ?? {}) as Record<string, unknown>;
  const where = `${index.href}: skills[${at}]`;
  if (typeof name !== 'string' || typeof address !== 'string') throw new Error(`${where}: expected a name and a url`);
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/i.test(digest)) throw new Error(`${where}.digest: got ${describe(digest)}; expected sha256: and 64 hexadecimal digits`);
  const url = new URL(address, index);
  return {
    name, description: String(description), url: url.href, digest,
    load: async () => {
      const bytes = await limited(await get(url, signal));
      if (!globalThis.crypto?.subtle) throw new Error(`${where}: its digest cannot be checked here, because this page is not a secure context (https or localhost)`);
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as BufferSource));
      const own = `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
      if (own !== digest.toLowerCase()) throw new Error(`${url.href}: its digest is ${own}, not ${digest} as the site's index says: it was not loaded`);
      const read: ReadSkills = { skills: [], faults: [] };
      add(read, isArchive(url.pathname, bytes) ? await unpacked(new Blob([bytes as BlobPart])) : new Map([[`${name}/SKILL.md`, bytes]]));
      return read;
    },
  };
}

type Files = Map<string, Uint8Array>;

/** The files of a source, or the skills of a site's index, which are read one by one. */
async function open(source: SkillSource, where: string, { signal }: SkillOptions): Promise<(Files | ReadSkills)[]> {
  if (source instanceof Blob) return [await unpacked(source)];
  if (typeof source === 'string' || source instanceof URL) {
    const url = addressOf(source, where);
    if (url.pathname.endsWith('.json')) {
      return Promise.all((await findSkills(url, { ...(signal && { signal }) })).map(({ load }) => load()));
    }
    const bytes = await limited(await get(url, signal));
    return [isArchive(url.pathname, bytes) ? await unpacked(new Blob([bytes as BlobPart])) : await mentioned(url, bytes, signal)];
  }
  if (typeof source !== 'object' || source === null || Array.isArray(source)) throw new TypeError(`${where}: got ${describe(source)}; expected files by path, an archive as a Blob, or an address`);
  if (isRead(source)) return [{ skills: [source], faults: [] }];
  const total = Object.values(source).reduce<number>((sum, content) => sum + (content instanceof Blob ? content.size : 0), 0);
  if (total > MAX_ARCHIVE) throw new Error(`the files have ${Math.ceil(total / 1024 / 1024)} MB; at most ${MAX_ARCHIVE / 1024 / 1024} MB are read`);
  const files: Files = new Map();
  for (const [path, content] of Object.entries(source)) files.set(clean(path), await bytesOf(content, `${where}[${JSON.stringify(path)}]`));
  return [files];
}

const isRead = (source: SkillFiles | TrajectorySkill): source is TrajectorySkill => typeof source['instructions'] === 'string' && typeof source['files'] === 'object';

async function bytesOf(content: SkillFiles[string], where: string): Promise<Uint8Array> {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Blob) return new Uint8Array(await content.arrayBuffer());
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  throw new TypeError(`${where}: got ${describe(content)}; expected a text, a Blob or bytes`);
}

function addressOf(given: string | URL, where: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(given, globalThis.location?.href);
  } catch { /* said below */ }
  if (!url || !/^https?:$/.test(url.protocol)) {
    const hint = typeof given === 'string' && given.trimStart().startsWith('---') ? `. For the text of a SKILL.md, write { 'my-skill/SKILL.md': text }` : '';
    throw new TypeError(`${where}: got ${describe(given)}; expected an http or https address${hint}`);
  }
  return url;
}

async function get(url: URL, signal: AbortSignal | undefined): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'omit', ...(signal && { signal }) });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Error(`${url.href} could not be fetched. From a page, the site has to allow it with the header Access-Control-Allow-Origin`, { cause });
  }
  if (!response.ok) throw new Error(`${url.href} answered ${response.status}`);
  return response;
}

/** The bytes of an answer, as many as a skill may have. */
async function limited(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) break;
    length += piece.value.length;
    if (length > MAX_ARCHIVE) {
      void reader?.cancel();
      throw new Error(`${response.url}: more than ${MAX_ARCHIVE / 1024 / 1024} MB; a skill is smaller`);
    }
    parts.push(piece.value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

const isArchive = (path: string, bytes: Uint8Array) =>
  /\.(zip|skill|tar|tgz|tar\.gz)$/i.test(path) || (bytes[0] === 0x50 && bytes[1] === 0x4b) || (bytes[0] === 0x1f && bytes[1] === 0x8b);

async function unpacked(blob: Blob): Promise<Files> {
  const { gunzip, open: list, read } = await import('turnwise-archive');
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  const archive = head[0] === 0x1f && head[1] === 0x8b ? await gunzip(blob) : blob;
  const { files } = await list(archive, async () => 'utf-8');
  const listed = files.filter(({ locked }) => !locked).slice(0, MAX_FILES * 10);
  const total = listed.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_ARCHIVE) throw new Error(`the archive unpacks to ${Math.ceil(total / 1024 / 1024)} MB; at most ${MAX_ARCHIVE / 1024 / 1024} MB are read`);
  const unpacked: Files = new Map();
  for (const file of listed) unpacked.set(clean(file.path), new Uint8Array(await (await read(archive, file)).arrayBuffer()));
  return unpacked;
}

/** A SKILL.md at an address, with the files that it mentions, as far as they are there. */
async function mentioned(url: URL, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<Files> {
  const folder = decodeURIComponent(url.pathname.split('/').at(-2) || 'skill');
  const files: Files = new Map([[`${folder}/SKILL.md`, bytes]]);
  const text = new TextDecoder().decode(bytes);
  const paths = new Set<string>();
  for (const [, link, code, finisher] of text.matchAll(/\]\(([^)\s#]+)|`((?:scripts|references|assets)\/[^`\s]+)`|^\s*may-finish:\s*["']?([^\s"']+)/gm)) {
    const path = link ?? code ?? finisher!;
    if (!/^[a-z][a-z0-9+.-]*:|^\/|\.\./i.test(path)) paths.add(path.replace(/^\.\//, ''));
  }
  await Promise.all([...paths].slice(0, MAX_MENTIONED).map(async (path) => {
    try {
      files.set(`${folder}/${clean(path)}`, await limited(await get(new URL(path, url), signal)));
    } catch {
      if (signal?.aborted) throw signal.reason;
      files.set(`${folder}/${clean(path)}`, ABSENT);
    }
  }));
  return files;
}

/** Stands for a file that a SKILL.md mentions and that could not be fetched. */
const ABSENT = new Uint8Array(0);

/** A path inside of its folder. */
const clean = (path: string) => path.replaceAll('\\', '/').split('/').filter((part) => part !== '' && part !== '.' && part !== '..').join('/');

/** Files of systems and version control, which no skill means. */
const NOISE = /(^|\/)(__MACOSX|\.git|\.svn|node_modules|__pycache__)(\/|$)|(^|\/)(\.DS_Store|Thumbs\.db|\.gitignore)$/;

/** Adds skills to what was read. */
function add(read: ReadSkills, files: Files | ReadSkills) {
  if (!(files instanceof Map)) {
    read.faults.push(...files.faults);
    for (const skill of files.skills) take(read, skill, `${skill.name}/SKILL.md`);
    return;
  }
  const paths = [...files.keys()].filter((path) => !NOISE.test(path));
  const roots = paths.filter((path) => /(^|\/)skill\.md$/i.test(path)).sort((a, b) => a.length - b.length);
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);
  const say = (skill: string, path: string, message: string, skipped = false) => void read.faults.push({ skill, path, message, skipped });
  if (!roots.length) say('', paths[0] ?? '', 'there is no SKILL.md', true);
  // A file belongs to the innermost folder with a SKILL.md.
  const homeOf = (path: string) => roots.map(folderOf).filter((folder) => path.startsWith(folder)).sort((a, b) => b.length - a.length)[0];
  for (const root of roots) {
    const home = folderOf(root);
    const folder = home.split('/').at(-2) ?? '';
    const own = paths.filter((path) => path !== root && homeOf(path) === home);
    const faults: SkillFault[] = [];
    const skill = skillOf(files.get(root)!, folder, own.map((path) => [path.slice(home.length), files.get(path)!]), (path, message, skipped = false) => void faults.push({ skill: folder, path: home + path, message, skipped }));
    read.faults.push(...faults.map((fault) => ({ ...fault, skill: skill?.name ?? folder })));
    if (skill) take(read, skill, root);
  }
  const stray = roots.length ? paths.filter((path) => homeOf(path) === undefined) : [];
  if (stray.length) say('', stray[0]!, `${stray.length === 1 ? 'this file belongs' : `this and ${stray.length - 1} more files belong`} to no skill, and ${stray.length === 1 ? 'was' : 'were'} left out`);
}

/** Takes a skill whose name is free, with unique names of tools. */
function take(read: ReadSkills, skill: TrajectorySkill, path: string) {
  if (read.skills.some(({ name }) => name === skill.name)) {
    read.faults.push({ skill: skill.name, path, message: `another skill is named ${skill.name} already, so this one was left out`, skipped: true });
    return;
  }
  const taken = new Set(read.skills.flatMap(({ scripts = [] }) => scripts.map(({ tool }) => tool)));
  for (const script of skill.scripts ?? []) {
    const base = script.tool;
    for (let n = 2; taken.has(script.tool); n += 1) script.tool = `${base.slice(0, MAX_NAME - 3)}_${n}`;
    taken.add(script.tool);
  }
  read.skills.push(skill);
}

type Say = (path: string, message: string, skipped?: boolean) => void;

function skillOf(source: Uint8Array, folder: string, own: [path: string, bytes: Uint8Array][], say: Say): TrajectorySkill | undefined {
  const text = textOf(source);
  if (text === undefined) return void say('SKILL.md', 'it is not a text in UTF-8', true);
  const parts = /^\s*---[ \t]*\r?\n([^]*?)\r?\n?---[ \t]*(?:\r?\n|$)([^]*)$/.exec(text);
  if (!parts) say('SKILL.md', /^\s*---/.test(text) ? 'its front matter does not end with a line of ---' : 'it has no front matter between lines of ---');
  const front = parts ? frontMatter(parts[1]!, say) : {};
  const instructions = (parts?.[2] ?? text).trim();
  if (!instructions) return void say('SKILL.md', 'it has no instructions after its front matter', true);
  const description = descriptionOf(front['description'], instructions, say);
  if (!description) return void say('SKILL.md', 'it has no description, by which a model could choose it', true);
  for (const field of Object.keys(front)) if (!FIELDS.includes(field)) say('SKILL.md', `its field ${field} is not in the specification and has no effect here`);
  const skill: TrajectorySkill = { name: nameOf(front['name'], folder, say), description, instructions, files: {} };
  const allowed = allowedTools(front['allowed-tools'], say);
  if (allowed) skill.allowed_tools = allowed;
  addFiles(skill, own, say);
  const mayFinish = finisherOf(front['metadata'], say);
  const scripts = Object.entries(skill.files).filter(([path]) => /\.m?js$/i.test(path) && (path.startsWith('scripts/') || path === mayFinish)).flatMap(([path, code]) => scriptOf(skill.name, path, code, mayFinish, say));
  if (scripts.length) skill.scripts = scripts;
  if (mayFinish !== undefined && !scripts.some(({ path }) => path === mayFinish)) say('SKILL.md', `metadata.may-finish names ${mayFinish}, which is no script in JavaScript of this skill that can run here`);
  return skill;
}

/** A text in UTF-8 without a NUL, without its byte order mark. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function frontMatter(text: string, say: Say): Record<string, unknown> {
  const read = (yaml: string) => {
    const value = parseYaml(yaml);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : undefined;
  };
  let fault = 'its front matter has no fields';
  for (const yaml of [text, text.replaceAll('\t', '  '), quoted(text), plainLines(text)]) {
    try {
      const fields = read(yaml);
      if (fields) {
        if (yaml !== text) say('SKILL.md', `${fault}; it was read with its values as plain texts`);
        return fields;
      }
    } catch (error) {
      fault = `its front matter is not valid YAML (${String((error as Error).message).split('\n')[0]})`;
    }
  }
  say('SKILL.md', fault);
  return {};
}

/** The most frequent fault: `description: Use it when: …`, whose second colon makes another field. */
const quoted = (text: string) => text.replaceAll('\t', '  ').replace(/^([A-Za-z][\w-]*):[ \t]+(?!["'|>[{])(.+?)[ \t]*\r?$/gm, (_, key: string, value: string) => `${key}: ${JSON.stringify(value)}`);

/** What is on lines of its own, if nothing else can be read. */
const plainLines = (text: string) => quoted(text.split('\n').filter((line) => /^(name|description|license|allowed-tools):/.test(line)).join('\n'));

function descriptionOf(given: unknown, instructions: string, say: Say): string {
  let text = typeof given === 'string' ? given.trim() : given === undefined || given === null ? '' : String(given);
  if (!text) {
    text = instructions.split(/\r?\n\s*\r?\n/).map((part) => part.trim()).find((part) => part && !/^(#|```|<|\||[-*] )/.test(part)) ?? '';
    if (text) say('SKILL.md', 'it has no description; the first paragraph of its instructions is used');
  }
  if (text.length > MAX_DESCRIPTION) {
    say('SKILL.md', `its description has ${text.length} characters; the first ${MAX_DESCRIPTION} are used`);
    text = text.slice(0, MAX_DESCRIPTION);
  }
  return text;
}

function nameOf(given: unknown, folder: string, say: Say): string {
  const wanted = typeof given === 'string' || typeof given === 'number' ? String(given).trim() : '';
  if (!wanted) say('SKILL.md', `it has no name; its folder's is used`);
  const name = (wanted || folder || 'skill').normalize('NFKC').toLowerCase().replace(/[^\p{Ll}\p{Lo}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, MAX_NAME) || 'skill';
  if (wanted && wanted !== name) say('SKILL.md', `its name ${JSON.stringify(wanted)} is not 1 to 64 of a-z, 0-9 and single -; ${name} is used`);
  else if (wanted && folder && folder !== wanted) say('SKILL.md', `its name is ${wanted}, and that of its folder ${folder}`);
  return name;
}

/** The tools that its scripts can call. What is not understood allows nothing. */
function allowedTools(given: unknown, say: Say): string[] | undefined {
  if (given === undefined || given === null) return undefined;
  const listed = Array.isArray(given) ? given.map(String) : String(given).match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
  const allowed = new Set<string>();
  for (const one of listed) {
    // `Read(src/**)` allows less than the tool, and cannot be kept here.
    const plain = /^[\w.-]+$/.test(one);
    const names = plain ? TOOLS[one] ?? [one] : [];
    if (!plain) say('SKILL.md', `allowed-tools: ${one} allows a part of a tool, which cannot be kept here, so it allows nothing`);
    for (const name of names) allowed.add(name);
  }
  return [...allowed];
}

function finisherOf(metadata: unknown, say: Say): string | undefined {
  const given = typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>)['may-finish'] : undefined;
  if (given === undefined) return undefined;
  if (typeof given !== 'string') return void say('SKILL.md', 'metadata.may-finish has to be the path of a script');
  return clean(given);
}

function addFiles(skill: TrajectorySkill, own: [path: string, bytes: Uint8Array][], say: Say) {
  let kept = skill.instructions.length;
  let dropped = 0;
  const binary: string[] = [];
  for (const [at, [path, bytes]] of own.sort(([a], [b]) => (a < b ? -1 : 1)).entries()) {
    if (bytes === ABSENT) {
      say(path, 'SKILL.md mentions this file, and it could not be fetched');
      continue;
    }
    const text = textOf(bytes);
    if (text === undefined) binary.push(path);
    else if (bytes.length > MAX_FILE) say(path, `it has ${Math.ceil(bytes.length / 1024)} KB; files of up to ${MAX_FILE / 1024} KB are taken`);
    else if (at >= MAX_FILES || kept + bytes.length > MAX_SKILL) dropped += 1;
    else {
      kept += bytes.length;
      skill.files[path] = text;
    }
  }
  if (dropped) say('', `${dropped} of its files were left out: a skill can have ${MAX_FILES} files and ${MAX_SKILL / 1024 / 1024} MB`);
  if (binary.length) skill.binary = binary;
}

function scriptOf(skill: string, path: string, code: string, mayFinish: string | undefined, say: Say) {
  const needs = /^\s*(?:import\b|export\b)/m.test(code) ? 'import or export' : /\brequire\s*\(|\bmodule\.exports\b/.test(code) ? 'require' : /^#!|\bprocess\.(?:argv|env|exit|std)|\bDeno\.|\bBun\./.test(code) ? 'Node.js' : /\bfetch\s*\(|\bdocument\./.test(code) ? 'the network or a page' : undefined;
  if (needs) {
    say(path, `it needs ${needs}, so it cannot run in the sandbox; a model can read it`);
    return [];
  }
  const tool = `${skill}_${path.split('/').at(-1)!.replace(/\.m?js$/i, '')}`.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^[^A-Za-z]+/, 's_').slice(0, MAX_NAME);
  return [{ tool, path, description: commentOf(code), ...(path === mayFinish && { may_finish: true }) }];
}

/** What a script says of itself in its first comment. */
function commentOf(code: string): string {
  const [, block, lines] = /^\s*(?:#!.*\n)?\s*(?:\/\*+([^]*?)\*\/|((?:\/\/[^\n]*\n?)+))/.exec(code) ?? [];
  const text = (block ?? lines ?? '').split('\n').map((line) => line.replace(/^\s*(\*|\/\/)?\s?/, '').trim()).filter(Boolean).join(' ');
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}

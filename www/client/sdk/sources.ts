// The pages that a run found and read, and which of them its answer cites. Decided from the results of its tools; what the model says of its
// sources does not count.
import type { Trajectory } from '../types/turnwise.js';

/**
 * A page of the web or of a documentation site.
 *
 * @example
 * pages.filter(({ cited }) => cited).map(({ url, title }) => `${title}: ${url}`)
 */
export interface Source {
  url: string;
  /** As a search or the page itself gives it; may be empty. */
  title: string;
  /** Whether a tool read it; otherwise a search only found it. */
  read: boolean;
  /** Whether the answer names its address, or that of a section of it. */
  cited: boolean;
  /**
   * SHA-256 of each text that was read of it, in hexadecimal. Two reads of the same text have the same one, also in other runs; more
   * than one here: the page changed during the run.
   */
  sha256: string[];
}

/**
 * What `sources` returns.
 *
 * @example
 * const { pages, unsupported }: Sources = sources(trajectory);
 */
export interface Sources {
  /** Each page once, those that were read first. */
  pages: Source[];
  /** Addresses in the answer that no tool found or read: nothing supports them. */
  unsupported: string[];
}

/**
 * Where a quote is.
 *
 * @example
 * const places: Quoted[] = findQuote(trajectory, 'The garden was laid out in 1509');
 */
export interface Quoted {
  /** The page. */
  url: string;
  /** Of the text that has the quote, as in `Source`. */
  sha256?: string;
  /** The call that read it. */
  callId: string;
}

interface Call { id: string; name: string; args?: any; result?: string | null; structured_content?: any; calls?: readonly Call[] }

/** One spelling of a page's address: without its fragment, and without `/` at its end. */
function page(address: string) {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  url.hash = '';
  return /^https?:$/.test(url.protocol) ? url.href.replace(/\/$/, '') : undefined;
}

/** The calls of a run and of its sub-agents, those inside of batches and programs too. */
function* callsOf({ turns, children }: Trajectory): Generator<Call> {
  const all = function* (calls: readonly Call[]): Generator<Call> {
    for (const call of calls) {
      yield call;
      yield* all(call.calls ?? []);
    }
  };
  for (const turn of turns) yield* all(turn.tool_calls as readonly Call[]);
  for (const child of children) yield* callsOf(child);
}

const isRead = ({ name, structured_content: data }: Call) => (name === 'fetch_url' || name === 'read_page') && typeof data?.url === 'string';

/** What a call found or read: `[address, title, read]`. */
function found(call: Call): [string, string, boolean][] {
  const { name, args, structured_content: data } = call;
  if (typeof data !== 'object' || data === null) return [];
  if (name === 'search_web' || name === 'search_docs') {
    const hits = Array.isArray(data.hits) ? data.hits : [];
    return hits.map(({ url, page: title, section }: any) => [String(url), section ? `${title} › ${section}` : String(title), false]);
  }
  if (!isRead(call)) return [];
  const own: [string, string, boolean] = [data.url, String(data.page ?? ''), true];
  return typeof args?.url === 'string' ? [own, [args.url, '', true]] : [own];
}

/** The addresses in a text: of Markdown links, and bare ones. */
function addresses(text: string): string[] {
  const all = [...text.matchAll(/https?:\/\/[^\s<>"'`\]]+/g)].map(([address]) => {
    // A parenthesis or a mark behind an address belongs to the sentence.
    let end = address;
    for (let before; before !== end;) {
      before = end;
      end = end.replace(/[.,;:!?*_|]+$/, '');
      if (end.endsWith(')') && end.split(')').length > end.split('(').length) end = end.slice(0, -1);
    }
    return end;
  });
  return [...new Set(all)];
}

/**
 * Lists the pages that a run found and read with `search_web`, `fetch_url`, `search_docs` and `read_page`, says which of them its answer
 * cites, and which addresses of the answer nothing supports. Works for any trajectory, also a stored one.
 *
 * @example
 * const { pages, unsupported } = sources((await agent.generate(question)).trajectory);
 * const cited = pages.filter((page) => page.cited && page.read);
 */
export function sources(trajectory: Trajectory): Sources {
  const pages = new Map<string, Source>();
  const names = new Map<string, string>();
  for (const call of callsOf(trajectory)) {
    const all = found(call);
    const [first] = all;
    for (const [url, title, read] of all) {
      // The address that was asked for and the one that it led to are one page.
      const key = page(call.name === 'search_web' || call.name === 'search_docs' ? url : first![0]);
      const own = page(url);
      if (key === undefined) continue;
      if (own !== undefined) names.set(own, key);
      const known = pages.get(key);
      if (known) Object.assign(known, { title: known.title || title, read: known.read || read });
      else pages.set(key, { url: call.name === 'search_web' || call.name === 'search_docs' ? url : first![0], title, read, cited: false, sha256: [] });
    }
    const { sha256, url } = (call.structured_content ?? {}) as { sha256?: unknown; url?: unknown };
    const texts = isRead(call) ? pages.get(page(String(url)) ?? '')?.sha256 : undefined;
    if (typeof sha256 === 'string' && texts && !texts.includes(sha256)) texts.push(sha256);
  }
  const unsupported = [];
  for (const address of addresses(trajectory.output ?? '')) {
    const source = pages.get(names.get(page(address) ?? '') ?? '');
    if (source) source.cited = true;
    else unsupported.push(address);
  }
  const all = [...pages.values()];
  return { pages: [...all.filter(({ read }) => read), ...all.filter(({ read }) => !read)], unsupported };
}

/** A text as its readers see it: without the marks of Markdown, with plain quotation marks, in one line. */
const plain = (text: string) => text.replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1').replace(/[*_`#|\\]+/g, '').replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d\u00ab\u00bb]/g, '"').replace(/\s+/g, ' ').trim().toLowerCase();

/**
 * Finds a quote in what a run read of the web and of documentation, as its record keeps it: which pages have these words, in this order.
 * White space, case, quotation marks and Markdown do not count. Empty: nothing that was read says so.
 *
 * @throws {TypeError} The quote has no words.
 * @example
 * const [place] = findQuote(trajectory, 'The garden was laid out in 1509');
 * if (!place) console.warn('no page that was read says so');
 */
export function findQuote(trajectory: Trajectory, quote: string): Quoted[] {
  const words = typeof quote === 'string' ? plain(quote) : '';
  if (!words) throw new TypeError('quote: expected a text with words');
  const places: Quoted[] = [];
  // A page that was read in parts, one after the other, is one text.
  let before: { url: string; sha256?: string; to?: number; text: string } | undefined;
  for (const call of callsOf(trajectory)) {
    const { url, sha256, from, to } = (call.structured_content ?? {}) as { url: string; sha256?: string; from?: number; to?: number };
    if (!isRead(call) || typeof call.result !== 'string') continue;
    // Behind the address and the notes of the tool; in front of its last note.
    const start = call.result.indexOf('\n\n') + 2;
    const own = call.result.slice(start, from === undefined || to === undefined ? undefined : start + to - from);
    const goesOn = from !== undefined && from > 0 && before?.url === url && before.sha256 === sha256 && before.to === from;
    const text: string = goesOn ? before!.text + own : own;
    before = { url, text, ...(sha256 !== undefined && { sha256 }), ...(to !== undefined && { to }) };
    if (plain(text).includes(words)) places.push({ url, ...(sha256 !== undefined && { sha256 }), callId: call.id });
  }
  return places;
}

// What a run found and read, and whether its answer rests on it. The panel decides this from the structured content of the tools'
// results; what the model says about its sources does not count.
import { safe } from './nodes.js';

const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * Splits an address into its page and its section, each in one spelling: `%e6` is `%E6`, and `a/`, `a/index.html` and `a.html`
 * are `a`. docsify's pages are fragments themselves (`#/page?id=section`).
 */
function split(href) {
  const route = href.includes('#/');
  const [page, anchor = ''] = href.split(route ? '?id=' : '#');
  return [route ? page : decoded(page).replace(/\/index\.html$/, '').replace(/\.html$/, '').replace(/\/$/, ''), decoded(anchor)];
}

/** A heading and its anchor, written alike: letters and digits only. */
const plain = (name) => decoded(name).toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/**
 * The sections that a call found or read: [{ href, page: its page's title, section: its headings, joined by ` › `, read }]. Pages
 * that were only listed do not count.
 */
export function found({ name, args, structured_content: data = {} }, base) {
  if (name === 'read_file') {
    const file = typeof args?.path === 'string' && safe(args.path, base);
    return file ? [{ href: file.href, page: '', section: '', read: true }] : [];
  }
  const sections = {
    search_docs: data.hits, search_web: data.hits, read_page: data.sections && [{ ...data, section: '' }, ...data.sections],
    // By its own address and by the one that led to it.
    fetch_url: data.url && [data.url, safe(String(args?.url), base)?.href].filter(Boolean).map((url) => ({ url, page: data.page, section: '' })),
  }[name] ?? [];
  return sections.map(({ url, page, section }) => ({ href: url, page, section, read: name === 'read_page' || name === 'fetch_url' }));
}

/**
 * What a link in an answer rests on, if that was found or read: the page, and of the section its anchor or its heading. `all`: what
 * `found` returned for the calls of the conversation.
 */
export function source(all, href) {
  const [page, anchor] = split(href);
  const there = all.filter((one) => split(one.href)[0] === page);
  if (!anchor) return there[0] && { ...there[0], section: '' };
  const name = plain(anchor);
  return there.find((one) => split(one.href)[1] === anchor || (name && plain(`${one.section}`.split(' › ').at(-1)) === name));
}

/** The title of a section: its page's, and its headings. */
export const titled = ({ page, section }) => [...new Set([page, ...section.split(' › ')])].filter(Boolean).join(' › ');

/** What a search said of itself: { weak: whether nothing fits well, missing: the words that occur nowhere }. */
export const search = ({ structured_content: { match, missing } = {} }) => match && { weak: match !== 'strong', missing };

/** Why a run counts as not answered: `bad_answer` (by the visitor), `limit`, `not_found` (no search fits well), or nothing. */
export function unanswered({ feedback, ended, searches = [] }) {
  if (!/^(success|partial)$/.test(ended?.outcome)) return undefined;
  if (feedback === false) return 'bad_answer';
  if (/^(max_turns|tokens|wall_time|cost|context)_/.test(ended.reason)) return 'limit';
  return searches.length && searches.every(({ weak }) => weak) ? 'not_found' : undefined;
}

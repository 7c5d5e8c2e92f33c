// What a run found and read, and whether its answer rests on it. The panel decides this from the tools' results; what the model
// says about its sources does not count.
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
 * The sections that a call found or read: [{ href, text: its heading, title: page and headings, read }]. Pages that were only
 * listed do not count.
 */
export function found({ name, args, result }, base) {
  const text = String(result);
  if (name === 'search_docs' || name === 'search_web') {
    const hits = [...text.matchAll(/^(\d+)\. (\S+)\n +(.+)$/gm)].filter(([, number], at) => Number(number) === at + 1);
    return hits.map(([, , href, title]) => ({ href, title, text: title.split(' › ').at(-1) }));
  }
  if (name === 'read_file') {
    const file = typeof args?.path === 'string' && safe(args.path, base);
    return file ? [{ href: file.href, text: '', read: true }] : [];
  }
  if (name === 'fetch_url') {
    // The page that was read, by its own address and by the one that led to it. An answer that is none begins with something else.
    const own = /^https?:\/\/\S+$/.test(text.split('\n', 1)[0]) && safe(text.split('\n', 1)[0], base);
    return own ? [own, safe(String(args?.url), base)].filter(Boolean).map(({ href }) => ({ href, text: '', read: true })) : [];
  }
  if (name !== 'read_page') return [];
  // The first line is the page's own address, whatever spelling of it the model used.
  const page = safe(text.split('\n', 1)[0], base)?.href ?? '';
  const sections = [...text.matchAll(/^#{1,6} (.*?)(?: \{(#[^\s}]+|https?:[^\s}]+)\})?$/gm)];
  return [{ href: page, text: '', read: true }, ...sections.map(([, heading, at = '']) => ({ href: safe(at, page)?.href ?? page, text: heading }))];
}

/**
 * Whether an answer may link to this address: the page was found or read, and so was the section, by its anchor or its
 * heading. `all`: what `found` returned for the calls of the conversation.
 */
export function holds(all, href) {
  const [page, anchor] = split(href);
  const there = all.filter((one) => split(one.href)[0] === page);
  const name = plain(anchor);
  return there.length > 0 && (!anchor || there.some((one) => split(one.href)[1] === anchor || (name && plain(one.text) === name)));
}

/** What a search said of itself: { weak: whether nothing fits well, missing: the words that occur nowhere }. */
export function search({ name, result }) {
  if (name !== 'search_docs') return undefined;
  const words = /^\[Words that occur nowhere in (?:this documentation|the pages read so far): (.*)\]$/m.exec(result)?.[1];
  return { weak: /^(\[Weak match: |No section of the (?:documentation|pages read so far) matches )/m.test(result), missing: words ? words.split(', ') : [] };
}

/** Why a run counts as not answered: `bad_answer` (by the visitor), `limit`, `not_found` (no search fits well), or nothing. */
export function unanswered({ feedback, ended, searches = [] }) {
  if (!/^(success|partial)$/.test(ended?.outcome)) return undefined;
  if (feedback === false) return 'bad_answer';
  if (/^(max_turns|tokens|wall_time|cost|context)_/.test(ended.reason)) return 'limit';
  return searches.length && searches.every(({ weak }) => weak) ? 'not_found' : undefined;
}

// The report of a question that was not answered, made safe to store: known fields, bounded, and without what may identify
// somebody or open something. Questions are written by anybody, and so is everything else in a report.

const WHYS = ['not_found', 'limit', 'bad_answer'];
const MAX = { question: 500, comment: 1000, page: 300, lang: 12, word: 60, words: 20 };
const REMOVED = '[removed]';
/**
 * E-mail addresses, keys (a prefix and letters, or long mixtures of letters and digits), and numbers of seven digits or more. Those
 * that search ahead begin where a word begins: tried at each letter, a long word takes the square of its length.
 */
const PRIVATE = [
  /(?<![^\s@<>()"])[^\s@<>()"]+@[^\s@<>()"]+\.[a-z]{2,}/gi,
  /\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[a-z]|AKIA|AIza|eyJ)[-_.]?[\w.-]{8,}/g,
  /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{24,}\b/g,
  /\+?\d(?:[ ().-]{0,2}\d){6,}/g,
];

/** A text in one line, without control characters, with private parts replaced. */
function line(value, most) {
  if (typeof value !== 'string') return '';
  const text = value.slice(0, 4 * most).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return PRIVATE.reduce((now, pattern) => now.replace(pattern, REMOVED), text).slice(0, most);
}

/** `{ question, why, missing, comment?, page, lang }` of a request's body; `undefined` if it is no report. */
export function clean(body) {
  let told;
  try {
    told = JSON.parse(body);
  } catch {
    return undefined;
  }
  const question = line(told?.question, MAX.question);
  if (!question || !WHYS.includes(told.why)) return undefined;
  const missing = Array.isArray(told.missing) ? told.missing.slice(0, MAX.words).map((word) => line(word, MAX.word)).filter(Boolean) : [];
  const comment = line(told.comment, MAX.comment);
  const page = line(told.page, MAX.page);
  const lang = /^[a-z]{2,3}(-[a-z\d]{2,8})?$/i.test(line(told.lang, MAX.lang)) ? told.lang : '';
  return { question, why: told.why, missing, ...(comment && { comment }), page: page.startsWith('/') ? page.split(/[?#]/)[0] : '', lang };
}

// The characters of a PDF's text: their order, their forms, letters with spaces between them. Without side effects.

/** Accents that stand before their letter as glyphs of their own, as TeX writes them, and the marks that combine with it. */
const ACCENTS = { '´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '˜': '\u0303', '¸': '\u0327', 'ˇ': '\u030c', '˚': '\u030a' };
const ACCENTED = /([´¨ˆ˜¸ˇ˚]|(?<=\p{L})`(?=[aeiou])|(?<=^|\s)`(?= ?a(?:\s|$))) ?([\p{L}ı])/gu;

/** Text in which each accent is one character with its letter. */
export const composed = (text) => text.replace(ACCENTED, (_, accent, letter) => `${letter === 'ı' ? 'i' : letter}${ACCENTS[accent]}`.normalize('NFC'));

/** Ligatures and other forms of letters that are characters of their own; they are read as their letters, and nothing else is changed. */
const FORMS = /[\ufb00-\ufdff\ufe10-\ufe19\ufe30-\ufe48\ufe70-\ufefc]+/gu;
/** Forms of Arabic vowel marks are a space and the mark. */
const plain = (forms) => forms.normalize('NFKC').replace(/ (?=\p{M})/gu, '');
export const withPlainForms = (text) => text.replace(FORMS, plain);

export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
export const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])\p{L}/u;
const DIGIT = /\p{Nd}/u;
/** What stands in a number, or at it. */
const IN_NUMBER = /[.,:/\-+%#$€£°]/;
const UNIT = /(?<!\p{L})(?:[kMGTmcµ]?(?:Wh|W|Hz|B|m|g|l|L|V|A|N|Pa|J|s)|h|min|rpm|bar|psi)$/u;
const MIRRORED = { '(': ')', ')': '(', '[': ']', ']': '[', '{': '}', '}': '{', '<': '>', '>': '<', '«': '»', '»': '«' };

/** How many characters match. */
export const count = (text, pattern) => [...text].reduce((sum, char) => sum + pattern.test(char), 0);

/**
 * A text that is written as it stands on the page, from left to right, in the order in which it is read. `rtl`: whether its sentence runs
 * to the left. This is the Unicode bidirectional algorithm backwards, as far as that is possible.
 */
export function readingOrder(text, rtl) {
  const chars = [...text];
  const levels = chars.map((char) => (RIGHT_TO_LEFT.test(char) && !DIGIT.test(char) ? 1 : DIGIT.test(char) ? 2 : LEFT_TO_RIGHT.test(char) ? (rtl ? 2 : 0) : -1));
  const known = (from, step) => {
    let at = from;
    while (levels[at] === -1) at += step;
    return levels[at];
  };
  const base = rtl ? 1 : 0;
  // Digits, and signs at them or between them, are a number, which runs to the right.
  for (const [at, char] of chars.entries()) {
    if (levels[at] !== -1 || !IN_NUMBER.test(char)) continue;
    const [before, after] = [DIGIT.test(chars[at - 1] ?? ''), DIGIT.test(chars[at + 1] ?? '')];
    if (/[.,:/]/.test(char) ? before && after : before || after) levels[at] = 2;
  }
  // A number in a sentence that runs to the right belongs to the words beside it.
  if (!rtl) {
    for (let at = 0; at < chars.length; at += 1) {
      if (levels[at] !== 2) continue;
      let to = at;
      while (levels[to] === 2) to += 1;
      if (known(at - 1, -1) !== 1 || known(to, 1) !== 1) levels.fill(0, at, to);
      at = to;
    }
  }
  const neutral = chars.map((_, at) => levels[at] === -1);
  for (let at = 0; at < chars.length;) {
    if (!neutral[at]) {
      at += 1;
      continue;
    }
    let to = at;
    while (neutral[to]) to += 1;
    const [before, after] = [levels[at - 1] ?? base, levels[to] ?? base];
    // Words that run to the right stay together, two numbers do not. A unit is read after its number, on whose left it stands.
    const together = before === after && (before !== 2 || LEFT_TO_RIGHT.test(chars[to]) || (LEFT_TO_RIGHT.test(chars[at - 1]) && !UNIT.test(chars.slice(Math.max(0, at - 5), at).join(''))));
    levels.fill(together ? before : base, at, to);
    at = to;
  }
  const turned = (of, level) => {
    const out = [];
    for (let at = 0; at < of.length;) {
      let to = at;
      while (to < of.length && of[to].level >= level) to += 1;
      for (let last = to - 1; last >= at; last -= 1) out.push(of[last]);
      if (to === at) out.push(of[to++]);
      at = to;
    }
    return out;
  };
  const read = turned(turned(chars.map((char, at) => ({ char, level: levels[at] })), 2), 1);
  // A bracket's picture is the other one where the text runs to the left; not every program says which it meant.
  const swap = /^[^([{]*[)\]}]/.test(read.map(({ char, level }) => (level === 1 ? char : '')).join(''));
  return read.map(({ char, level }) => (swap && level === 1 ? MIRRORED[char] ?? char : char)).join('');
}

/** A text that is written as it stands on the page, as it is read. */
export function readable(text) {
  const read = RIGHT_TO_LEFT.test(text) ? readingOrder(text, count(text, RIGHT_TO_LEFT) > count(text, LEFT_TO_RIGHT)) : text;
  return withPlainForms(read);
}

const SUPERSCRIPTS = { '0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹', '+': '⁺', '-': '⁻', '−': '⁻', '–': '⁻' };
/** Small digits and signs that are raised. */
export const raised = (text) => text.replace(/./g, (char) => SUPERSCRIPTS[char] ?? char);

const IDEOGRAPHS = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\uff00-\\uff65]';
export const IDEOGRAPH = new RegExp(`^${IDEOGRAPHS}$`, 'u');
/** Between these there are no spaces. */
const SPACED_IDEOGRAPHS = new RegExp(`(?<!${IDEOGRAPHS})${IDEOGRAPHS}(?: {1,5}${IDEOGRAPHS}(?!${IDEOGRAPHS})){2,}`, 'gu');

/** Four or more single letters with spaces between them. */
const SPACED = /(?<![^\s([{"'«„“])[\p{Lu}\p{Ll}](?: {1,12}[\p{Lu}\p{Ll}\p{Nd}&](?![^\s)\]}.,:;!?"'»”]))+/gu;

/** Whether letters may be words, and not a list, such as `A B C D`, the answers to a test or the months. */
function areWords(letters) {
  const folded = letters.map((char) => char.normalize('NFD')[0].toLowerCase());
  const vowels = folded.filter((char) => /[aeiou]/.test(char)).length / letters.length;
  const ordered = folded.every((char, at) => at === 0 || char >= folded[at - 1]);
  return letters.length >= 4 && !ordered && !folded.every((char) => /[a-e]/.test(char)) && !folded.join('').includes('jfmamjj')
    && (!/[a-z]/.test(folded[0]) || (vowels >= 0.2 && vowels <= 0.8));
}

/** Words that are written with spaces between their letters, without them. Lists of letters stay. */
export function unspaced(given) {
  const text = given.replace(SPACED_IDEOGRAPHS, (run) => run.replaceAll(' ', ''));
  if (!/(?:^| )\S +\S +\S(?: |$)/u.test(text)) return text;
  const close = (run) => {
    const letters = run.match(/(?<!\S)\p{L}(?!\S)/gu) ?? [];
    if (!areWords(letters)) return run;
    // Much wider gaps separate words.
    const gaps = run.match(/ +/g).map(({ length }) => length).sort((one, other) => one - other);
    const usual = 1.5 * gaps[gaps.length >> 1];
    return run.replace(/(\S+)( +)(?=(\S+))/gu, (_, before, gap, after) => before + (gap.length > usual || before.length > 1 || after.length > 1 ? ' ' : ''));
  };
  const signs = text.split(/ +/);
  const whole = signs.length >= 8 && signs.filter((sign) => sign.length === 1).length >= 0.85 * signs.length;
  return whole ? close(text) : text.replace(SPACED, close);
}

/** Characters that no text has: without a meaning that all programs share, or none at all. */
const MEANINGLESS = /[\p{Co}\p{Cn}\ufffd\u0000-\u0008\u000e-\u001f\u007f-\u009f]/u;

/**
 * Whether much of a page's text is not what the page shows, since its fonts do not say which characters their glyphs are. `unmapped` (.ci/parts.mjs):
 * the font says of no glyph what it is, and pdf.js takes its number for a character.
 */
export function isUnreadable(items) {
  let [all, wrong, meaningless] = [0, 0, 0];
  for (const { str, unmapped } of items) {
    const chars = str.replace(/\s+/gu, '').length;
    all += chars;
    if (unmapped) wrong += chars;
    else if (MEANINGLESS.test(str)) meaningless += count(str, MEANINGLESS);
    // Letters whose bytes are in the wrong order.
    else if (/[\u2000-\u7a00]/.test(str)) meaningless += [...str].filter((char) => char.charCodeAt(0) % 256 === 0).length;
  }
  return wrong > 0.3 * all || (meaningless >= 10 && meaningless > 0.15 * all);
}

/** Letters that are only at the end of a Hebrew or an Arabic word, and the Arabic article, which is at the beginning of one. */
const ENDS = /[ךםןףץةى](?![\p{L}\p{M}])/gu;
const BEGINS = /(?<![\p{L}\p{M}])[ךםןףץةى](?=\p{L})/gu;

/**
 * Whether text that runs to the left is written as it is read, and not as it stands on the page. The text that a program for text recognition puts
 * behind a scan is, since nobody sees it.
 */
export function isLogical(items) {
  let [logical, drawn] = [0, 0];
  for (const { str } of items) {
    if (!str || str.length < 3 || !RIGHT_TO_LEFT.test(str)) continue;
    logical += (str.match(ENDS)?.length ?? 0) + (str.match(/(?<!\p{L})ال\p{L}/gu)?.length ?? 0);
    drawn += (str.match(BEGINS)?.length ?? 0) + (str.match(/\p{L}لا(?!\p{L})/gu)?.length ?? 0);
  }
  return logical > 2 * drawn && logical >= 3;
}

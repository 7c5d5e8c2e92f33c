// The text of a PDF's pages as Markdown. A PDF has only pieces of text at places: lines, headings and tables are found from
// their positions and sizes. Without side effects.
import { spaces } from './pdf-glyphs.js';

/** A gap of so many times the height of the text separates two cells of a line; a smaller one of so many, two words. */
const CELL_GAP = 1.2;
const WORD_GAP = 0.12;
/** A gap of so many may be that between two columns of text, if the lines beside it say so. */
const COLUMN_GAP = 0.6;
/** Text that is so many times as high as the document's most frequent height is a heading. */
const HEADING = 1.15;
const MAX_HEADING_CHARS = 140;
/** So many lines in a row with at least two cells are a table, if the cells form columns. */
const MIN_TABLE_LINES = 3;
const MAX_TABLE_COLUMNS = 200;
/** A distance of so many times their height separates two paragraphs. */
const PARAGRAPH_GAP = 1.7;
/** Accents that stand before their letter as glyphs of their own, as TeX writes them, and the marks that combine with it. */
const ACCENTS = { '´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '˜': '\u0303', '¸': '\u0327', 'ˇ': '\u030c', '˚': '\u030a' };
const ACCENTED = /([´¨ˆ˜¸ˇ˚]|(?<=\p{L})`(?=[aeiou])|(?<=^|\s)`(?= ?a(?:\s|$))) ?([\p{L}ı])/gu;
const BULLET = /^[•◦▪▫‣⁃●○■□➢➤✓·\uf0b7\uf0a7]\s*/u;

const composed = (text) => text.replace(ACCENTED, (_, accent, letter) => `${letter === 'ı' ? 'i' : letter}${ACCENTS[accent]}`.normalize('NFC'));

/** Ligatures and other forms of letters that are characters of their own; they are read as their letters, and nothing else is changed. */
const FORMS = /[\ufb00-\ufdff\ufe10-\ufe19\ufe30-\ufe48\ufe70-\ufefc]+/gu;
/** Forms of Arabic vowel marks are a space and the mark. */
const plain = (forms) => forms.normalize('NFKC').replace(/ (?=\p{M})/gu, '');

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])\p{L}/u;
const DIGIT = /\p{Nd}/u;
/** What stands in a number, or at it. */
const IN_NUMBER = /[.,:/\-+%#$€£°]/;
const UNIT = /(?<!\p{L})(?:[kMGTmcµ]?(?:Wh|W|Hz|B|m|g|l|L|V|A|N|Pa|J|s)|h|min|rpm|bar|psi)$/u;
const MIRRORED = { '(': ')', ')': '(', '[': ']', ']': '[', '{': '}', '}': '{', '<': '>', '>': '<', '«': '»', '»': '«' };

const count = (text, pattern) => [...text].reduce((sum, char) => sum + pattern.test(char), 0);

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
      if (to > at) out.push(...of.slice(at, to).reverse());
      else out.push(of[to++]);
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
  return read.replace(FORMS, plain);
}

const SUPERSCRIPTS = { '0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹', '+': '⁺', '-': '⁻', '−': '⁻', '–': '⁻' };

const IDEOGRAPHS = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\uff00-\\uff65]';
const IDEOGRAPH = new RegExp(`^${IDEOGRAPHS}$`, 'u');
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
function unspaced(given) {
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

/** Text that is turned by less is on a page that was scanned a little askew. */
const ASKEW = 5;

/** Letters that are only at the end of a Hebrew or an Arabic word, and the Arabic article, which is at the beginning of one. */
const ENDS = /[ךםןףץةى](?![\p{L}\p{M}])/gu;
const BEGINS = /(?<![\p{L}\p{M}])[ךםןףץةى](?=\p{L})/gu;

/**
 * Whether text that runs to the left is written as it is read, and not as it stands on the page. The text that a program for text recognition puts
 * behind a scan is, since nobody sees it.
 */
function isLogical(items) {
  let [logical, drawn] = [0, 0];
  for (const { str } of items) {
    if (!str || str.length < 3 || !RIGHT_TO_LEFT.test(str)) continue;
    logical += (str.match(ENDS)?.length ?? 0) + (str.match(/(?<!\p{L})ال\p{L}/gu)?.length ?? 0);
    drawn += (str.match(BEGINS)?.length ?? 0) + (str.match(/\p{L}لا(?!\p{L})/gu)?.length ?? 0);
  }
  return logical > 2 * drawn && logical >= 3;
}

/** So many of these one below the other are a vertical line. */
const MIN_COLUMN = 4;

/** Which pieces are single characters of vertical lines. Some programs place each of them, without a font for vertical text. */
function glyphColumns(items) {
  const columns = new Array(items.length).fill(false);
  for (let at = 0; at < items.length;) {
    let to = at + 1;
    const { str, transform: [, , , , x], height } = items[at];
    if (IDEOGRAPH.test(str)) {
      for (; to < items.length && IDEOGRAPH.test(items[to].str); to += 1) {
        const step = items[to - 1].transform[5] - items[to].transform[5];
        if (Math.abs(items[to].transform[4] - x) > 0.6 * height || step < 0.4 * height || step > 2 * height) break;
      }
      if (to - at >= MIN_COLUMN) columns.fill(true, at, to);
    }
    at = to;
  }
  // The last characters of a text may be fewer.
  const some = columns.filter(Boolean).length;
  if (some && some > 0.5 * items.filter(({ str }) => IDEOGRAPH.test(str)).length) items.forEach(({ str }, at) => { columns[at] ||= IDEOGRAPH.test(str); });
  return columns;
}

/**
 * The pieces of a page by the direction in which they run, in the order in which the directions first occur: `[{ pieces, turn }]`. The places of
 * the pieces are turned so that the text runs from left to right and the lines from top to bottom; `turn(x, y)` does that to a place.
 */
function directionsOf(items) {
  const directions = new Map();
  const logical = isLogical(items);
  const placed = items.filter(({ str, transform }) => transform && str !== '');
  const columns = glyphColumns(placed);
  for (const [index, item] of placed.entries()) {
    let { str, dir, width, height, transform: [a, b, , , x, y] } = item;
    // The place of a character in a vertical line is the middle of its upper edge.
    if (columns[index] && dir !== 'ttb') [dir, width, x, y] = ['ttb', height, x + 0.5 * height, y + 0.88 * height];
    if (logical && RIGHT_TO_LEFT.test(str)) str = [...str].reverse().join('');
    const exact = dir === 'ttb' ? -90 : Math.atan2(b, a) * 180 / Math.PI || 0;
    const right = 90 * Math.round(exact / 90);
    const angle = Math.abs(exact - right) <= ASKEW ? (right + 360) % 360 : Math.round(exact + 360);
    let direction = directions.get(angle);
    if (!direction) directions.set(angle, direction = { angle, pieces: [], askew: 0, chars: 0 });
    const high = (dir === 'ttb' ? width : height) || Math.hypot(a, b) || 1;
    direction.pieces.push({ text: str.replace(/\p{Cc}+/gu, ' '), x, y, width: dir === 'ttb' ? height : width, height: high });
    direction.askew += (exact - right) * str.length;
    direction.chars += str.length;
  }
  return [...directions.values()].map(({ angle, pieces, askew, chars }) => {
    const most = angle % 90 === 0 ? askew / chars : 0;
    const exact = (angle + (Math.abs(most) > 0.05 && Math.abs(most) <= ASKEW ? most : 0)) * Math.PI / 180;
    const [cos, sin] = exact === 0 ? [1, 0] : [Math.cos(exact), Math.sin(exact)];
    const turn = (x, y) => [x * cos + y * sin, y * cos - x * sin];
    for (const piece of pieces) [piece.x, piece.y] = turn(piece.x, piece.y);
    return { pieces, turn, chars };
  });
}

/** Groups pieces into lines, in their order: `[{ y, height, pieces }]`. */
function piecesByLine(pieces) {
  const lines = [];
  let line;
  for (const piece of pieces) {
    const { text, x, y, width, height } = piece;
    const blank = text.trim() === '';
    const rtl = RIGHT_TO_LEFT.test(text);
    // Superscripts are in the line, too. A piece that starts before the end of the last one belongs to another line, unless the text runs to the left.
    const level = line && Math.abs(y - line.y) < 0.5 * Math.max(height, line.height);
    if (!level || (x <= line.to - 2 * height && !rtl && !line.rtl)) {
      if (blank) continue;
      line = { y, height, pieces: [piece], to: x + width, rtl };
      lines.push(line);
      continue;
    }
    line.pieces.push(piece);
    if (blank) continue;
    line.height = Math.max(line.height, height);
    line.to = Math.max(line.to, x + width);
    line.rtl ||= rtl;
  }
  return lines;
}

/** The cells of a line: `[{ text, from, to, y, height, parts }]`. `parts`: the same for its parts, if it has gaps that may be between columns. */
function cellsOf({ y, height, pieces }) {
  const cells = [];
  let last;
  let spaceTo = -Infinity; // where a space after the last piece ends
  for (const { text, x, y: base, width, height: high } of pieces) {
    const gap = last ? x - Math.max(last.to, spaceTo) : 0;
    if (text.trim() === '') {
      if (last && gap < CELL_GAP * height && width < CELL_GAP * height) {
        if (!last.text.endsWith(' ')) last.text += ' ';
        spaceTo = Math.max(spaceTo, x + width);
      }
      continue;
    }
    if (!last || gap > CELL_GAP * height) {
      last = { text, from: x, to: x + width, y: base, height: high };
      spaceTo = -Infinity;
      cells.push(last);
      continue;
    }
    const raised = high < 0.85 * last.height && base - last.y > 0.15 * last.height && /^[\d+\-−–]*\d[\d+\-−–]*\s*$/.test(text) && /[\p{L}\p{N}\p{P})]$/u.test(last.text);
    const apart = gap > WORD_GAP * height || /\s$/u.test(last.text);
    if (apart) last.text = last.text.trimEnd();
    if (gap > COLUMN_GAP * height) last.parts ??= [{ text: last.text, from: last.from, to: last.to }];
    if (last.parts && gap > COLUMN_GAP * height) last.parts.push({ text, from: x, to: x + width });
    else if (last.parts) Object.assign(last.parts.at(-1), { text: `${last.parts.at(-1).text}${apart ? ' ' : ''}${text}`, to: x + width });
    const joint = apart && !/^\s/u.test(text) && !(x - last.to < 0.5 * height && IDEOGRAPH.test(last.text.at(-1)) && IDEOGRAPH.test(text[0])) ? spaces([...last.text.slice(-2)], (x - last.to) / height) : '';
    last.text += raised && joint === '' ? text.replace(/./g, (char) => SUPERSCRIPTS[char] ?? char) : joint + text;
    last.to = Math.max(last.to, x + width);
    if (high > last.height) [last.height, last.y] = [high, base];
  }
  return cells;
}

/**
 * The lines of a page's text, in the order of the page's content, text in another direction after the rest: `[{ y, height, cells: [{ text, from, to, y, height }] }]`.
 * `items`: of pdf.js, in the order of the page from left to right (.ci/parts.mjs). `inserts`: what stands on the page besides its text (see `inserted`).
 */
export function linesOf(items, inserts = []) {
  const directions = directionsOf(items);
  const letters = (pattern) => directions.reduce((sum, { pieces }) => sum + pieces.reduce((of, { text }) => of + count(text, pattern), 0), 0);
  const runsLeft = directions.some(({ pieces }) => pieces.some(({ text }) => RIGHT_TO_LEFT.test(text))) && letters(RIGHT_TO_LEFT) > letters(LEFT_TO_RIGHT);
  const main = directions.reduce((most, one) => (one.chars > (most?.chars ?? 0) ? one : most), undefined);
  const lines = [];
  for (const direction of directions) {
    const own = joined(columnByColumn(piecesByLine(direction.pieces).map((line) => readLine(line, runsLeft)), runsLeft));
    if (direction === main) addInserts(own, inserts, direction.turn);
    for (const line of own) lines.push(line);
  }
  if (!main) addInserts(lines, inserts, (x, y) => [x, y]);
  return lines;
}

/** A line with its cells, in the order in which they are read. */
function readLine(line, runsLeft) {
  const { y, height, pieces } = line;
  if (line.rtl) pieces.sort((one, other) => one.x - other.x);
  let cells = cellsOf(line);
  let rtl = false;
  if (line.rtl) {
    const text = cells.map((cell) => cell.text).join('');
    rtl = runsLeft || count(text, RIGHT_TO_LEFT) >= count(text, LEFT_TO_RIGHT);
    for (const cell of cells) cell.text = readingOrder(cell.text, rtl);
    if (rtl) cells.reverse();
  }
  for (const cell of cells) cell.text = cell.text.replace(FORMS, plain).trim().replace(/\s/gu, ' ');
  cells = ofSpacedLetters(cells);
  for (const cell of cells) cell.text = composed(unspaced(cell.text).replace(/ +/g, ' '));
  for (const { parts = [] } of cells) for (const part of parts) part.text = composed(part.text.replace(FORMS, plain).trim().replace(/\s+/gu, ' '));
  return { y, height, cells, rtl };
}

/** A line whose cells are letters, or letters with spaces between them, is one cell if it is words. */
function ofSpacedLetters(cells) {
  if (cells.length < 2 || !cells.every(({ text }) => /^\p{L}( +\p{L})*$/u.test(text))) return cells;
  const single = cells.every(({ text }) => text.length === 1);
  if (single ? cells.length < 6 : cells.every(({ text }) => text.replaceAll(' ', '').length < 3)) return cells;
  const gaps = cells.slice(1).map(({ from }, at) => from - cells[at].to);
  const usual = [...gaps].sort((one, other) => one - other)[gaps.length >> 1];
  const spaced = cells.map(({ text }, at) => (at === 0 ? '' : ' '.repeat(single && gaps[at - 1] < 1.5 * usual ? 1 : 12)) + text).join('');
  const text = unspaced(spaced);
  return text === spaced ? cells : [{ ...cells[0], text, to: cells.at(-1).to }];
}

/** Columns of text have so many lines at most; a page with more was made to be slow. */
const MAX_COLUMN_LINES = 400;
const MAX_COLUMNS = 4;

/**
 * Lines that begin at `at` and whose cells lie in the same columns: `{ end, columns: [{ from, to, cells }] }`. A line with a single cell
 * belongs to them if it goes on below the last cell of its column. `more`: cells beside the columns may begin another one.
 */
function columnsAt(lines, at, more) {
  const columns = [...lines[at].cells].sort((one, other) => one.from - other.from).map((cell) => ({ from: cell.from, to: cell.to, cells: [cell] }));
  let end = at + 1;
  for (; end < lines.length && end - at < MAX_COLUMN_LINES; end += 1) {
    const { y, height } = lines[end];
    const step = lines[end - 1].y - y;
    if (step <= 0 || step > 2.5 * height) break;
    const cells = lines[end].cells.flatMap((cell) => partsIn(columns, cell));
    if (more && columns.length + cells.length <= MAX_COLUMNS + 1) {
      for (const cell of cells) if (columnOf(columns, cell) < 0) columns.push({ from: cell.from, to: cell.to, cells: [] });
      columns.sort((one, other) => one.from - other.from);
    }
    const places = cells.map((cell) => columnOf(columns, cell));
    if (new Set(places).size < places.length) break;
    const fits = cells.every((cell, index) => {
      const place = places[index];
      return place >= 0 && !(cell.from <= columns[place - 1]?.to) && !(cell.to >= columns[place + 1]?.from);
    });
    if (!fits) break;
    const above = columns[places[0]].cells.at(-1);
    if (cells.length === 1 && above) {
      if (above.y - y > PARAGRAPH_GAP * height || Math.abs(above.height - height) > 0.5) break;
    }
    for (const [index, cell] of cells.entries()) {
      const column = columns[places[index]];
      column.from = Math.min(column.from, cell.from);
      column.to = Math.max(column.to, cell.to);
      column.cells.push(cell);
    }
  }
  return { end, columns: columns.filter(({ cells }) => cells.length) };
}

const columnOf = (columns, cell) => columns.findIndex(({ from, to }) => cell.from < to && cell.to > from);

/** A cell, or its parts in each column if it goes over several. */
function partsIn(columns, cell) {
  if (!cell.parts || columns.filter(({ from, to }) => cell.from < to && cell.to > from).length < 2) return [cell];
  const out = [];
  for (const part of cell.parts) {
    const place = columnOf(columns, part);
    if (out.at(-1)?.place === place) Object.assign(out.at(-1), { text: `${out.at(-1).text} ${part.text}`, to: part.to });
    else out.push({ ...part, y: cell.y, height: cell.height, place });
  }
  return out;
}

/** Whether the cells of a column are the lines of a text, in which sentences go on from one line to the next, and not the cells of a table. */
function isProse(cells) {
  const [from, to] = [Math.min(...cells.map((cell) => cell.from)), Math.max(...cells.map((cell) => cell.to))];
  const whole = cells.map(({ text }) => text).join(' ');
  // A word of a script without capitals may be written without spaces.
  const words = (whole.split(' ').length + (whole.match(/\p{Lo}/gu)?.length ?? 0) / 4) / cells.length;
  const letters = (whole.match(/\p{L}/gu)?.length ?? 0) / whole.replaceAll(' ', '').length;
  const wordless = cells.filter(({ text }) => !/\p{L}/u.test(text)).length;
  const full = cells.filter((cell) => cell.to - cell.from > 0.55 * (to - from)).length;
  const goesOn = cells.filter(({ text }, at) => {
    const before = cells[at - 1]?.text ?? '.';
    return /^\p{Ll}/u.test(text) || /[,;\-\u00ad]$/u.test(before) || (/^\p{Lo}/u.test(text) && !/[.!?:。!?؟]$/u.test(before));
  }).length;
  // Small letters only, without a comma or a stop, are the entries of a list.
  const sentences = /[.,;!?\p{Lo}]|^\p{Lu}/u.test(whole);
  return sentences && words >= 2.5 && letters > 0.7 && wordless < 0.2 * cells.length && full >= 0.5 * cells.length && goesOn >= (cells.length === 2 ? 1 : 0.34 * (cells.length - 1));
}

/** Whether columns may begin with a line: it has several cells, or the next line stands beside it, a little lower. */
const mayBeColumns = ({ y, height, cells }, next) => (cells.length >= 2 && cells.length <= MAX_COLUMNS)
  || (next?.cells.length === 1 && cells.length === 1 && y > next.y && y - next.y < 0.8 * height && (next.cells[0].from > cells[0].to || next.cells[0].to < cells[0].from));

/** Lines in which columns of text stand side by side, as columns one after the other. Tables stay as they are. */
function columnByColumn(lines, runsLeft) {
  const out = [];
  for (let at = 0; at < lines.length;) {
    const found = mayBeColumns(lines[at], lines[at + 1]) && [true, false].map((more) => columnsAt(lines, at, more)).find(({ columns }) => columns.length > 1 && columns.every(({ cells }) => cells.length >= 2 && isProse(cells)));
    if (found) {
      const { end, columns } = found;
      // The line above may have a narrower gap.
      for (let above = out.at(-1); above?.cells.length === 1 && above.cells[0].parts && above.y - columns[0].cells[0].y < PARAGRAPH_GAP * above.height; above = out.at(-1)) {
        const cells = partsIn(columns, above.cells[0]);
        if (cells.length !== columns.length || cells.some((cell, place) => cell.place !== place)) break;
        for (const [place, cell] of cells.entries()) columns[place].cells.unshift(cell);
        out.pop();
      }
      if (runsLeft) columns.reverse();
      for (const { cells } of columns) for (const cell of cells) out.push({ y: cell.y, height: cell.height, cells: [cell], rtl: runsLeft });
      at = end;
      continue;
    }
    out.push(lines[at]);
    at += 1;
  }
  return out;
}

/**
 * Adds to lines what stands on the page besides its text: `{ rect, text, own }`, `rect` being `[left, bottom, right, top]` as in the PDF. If `own` is
 * set, it becomes a line of its own after that of its place; otherwise it is put into the line beside it, if there is one.
 */
function addInserts(lines, inserts, turn) {
  const added = new Map(); // the new lines, by the line after which they stand
  const usual = lines.map(({ height }) => height).sort((one, other) => one - other)[lines.length >> 1] ?? 10;
  for (const { rect, text, own } of inserts) {
    const [one, other] = [turn(rect[0], rect[1]), turn(rect[2], rect[3])];
    const [from, to] = [Math.min(one[0], other[0]), Math.max(one[0], other[0])];
    const [bottom, top] = [Math.min(one[1], other[1]), Math.max(one[1], other[1])];
    const middle = (bottom + top) / 2;
    let [beside, above, off, over] = [undefined, -1, Infinity, Infinity];
    for (const [index, line] of lines.entries()) {
      const height = line.y + 0.35 * line.height;
      const free = line.cells.every((cell) => cell.to < from + 2 || cell.from > to - 2);
      if (!own && free && Math.abs(height - middle) < Math.min(off, 0.6 * Math.max(line.height, Math.min(top - bottom, 20)))) [beside, off] = [line, Math.abs(height - middle)];
      // Of the lines above, one in the same column is nearer.
      const distance = height - bottom + (line.cells.some((cell) => cell.from < to && cell.to > from) ? 0 : 1_000);
      if (height >= bottom && distance <= over) [above, over] = [index, distance];
    }
    const height = beside?.height ?? usual;
    const cell = { text, from, to: Math.max(from, Math.min(to, from + text.length * height)), y: middle - 0.35 * height, height };
    if (beside) putInto(beside, cell);
    else added.set(above, [...(added.get(above) ?? []), { y: cell.y, height, cells: [cell], rtl: false }]);
  }
  for (const [above, those] of [...added].sort(([one], [other]) => other - one)) lines.splice(above + 1, 0, ...those.sort((one, other) => other.y - one.y));
}

/** Puts a cell into a line, and makes it one with those that are near. */
function putInto(line, cell) {
  const near = CELL_GAP * line.height;
  const cells = [...line.cells, cell].sort((one, other) => one.from - other.from);
  line.cells = cells.reduce((done, next) => {
    const last = done.at(-1);
    if (!last || (next !== cell && last.added !== cell) || next.from - last.to > near) done.push({ ...next, added: next === cell ? cell : undefined });
    else Object.assign(last, { text: `${last.text} ${next.text}`, to: next.to, added: cell });
    return done;
  }, []);
  if (line.rtl) line.cells.reverse();
}

/** Puts a word that a hyphen divides at the end of a line together again, on the first of its lines, so that it can be found. */
function joined(lines) {
  for (const [index, { y, height, cells }] of lines.entries()) {
    const next = lines[index + 1];
    const rest = next && y > next.y && Math.abs(height - next.height) < 0.5 && /^\p{Ll}+[^\s\p{L}]*/u.exec(next.cells[0]?.text ?? '')?.[0];
    if (!rest || !/\p{L}[-\u00ad\u2010]$/u.test(cells.at(-1)?.text ?? '')) continue;
    cells.at(-1).text = cells.at(-1).text.slice(0, -1) + rest;
    next.cells[0].text = next.cells[0].text.slice(rest.length).trimStart();
    if (!next.cells[0].text) next.cells.shift();
  }
  for (const { cells } of lines) for (const cell of cells) cell.text = cell.text.replaceAll('\u00ad', '-');
  return lines.filter(({ cells }) => cells.length);
}

/** The height of most of the text, and of each larger text that may be a heading, the largest first. */
export function sizesOf(pages) {
  const chars = new Map();
  for (const lines of pages) {
    for (const { height, cells } of lines) {
      const rounded = Math.round(height * 2) / 2;
      chars.set(rounded, (chars.get(rounded) ?? 0) + cells.reduce((sum, { text }) => sum + text.length, 0));
    }
  }
  const body = [...chars].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
  const larger = [...chars.keys()].filter((height) => height > HEADING * body).sort((one, other) => other - one);
  // There are four levels of headings; smaller ones are of the last.
  return { body, larger: larger.length > 4 ? [...larger.slice(0, 3), larger.at(-1)] : larger };
}

/** The columns of lines, as `[from, to]`, if their cells form at least two, and each line has at most one cell in each. */
function columnsOf(lines) {
  const spans = lines.flatMap(({ cells }) => cells.map(({ from, to }) => [from, Math.max(to, from + 0.1)])).sort((one, other) => one[0] - other[0]);
  const columns = [];
  for (const [from, to] of spans) {
    const last = columns.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else columns.push([from, to]);
  }
  if (columns.length < 2 || columns.length > MAX_TABLE_COLUMNS) return undefined;
  return lines.every(({ cells }) => new Set(cells.map((cell) => placeOf(columns, cell))).size === cells.length) ? columns : undefined;
}

/** The index of the column with a cell. */
function placeOf(columns, { from }) {
  let [low, high] = [0, columns.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (columns[middle][0] <= from) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The longest table that begins at a line and ends before `end`: `{ end, columns }`. One more line can only join columns, so if
 * some lines are no table, more of them are none either, and the end is found by doubling and halving.
 */
function tableAt(lines, at, end) {
  if (end - at < MIN_TABLE_LINES) return undefined;
  let [good, bad, step] = [at + MIN_TABLE_LINES, end + 1, MIN_TABLE_LINES];
  let columns = columnsOf(lines.slice(at, good));
  if (!columns) return undefined;
  while (good + 1 < bad) {
    const next = Math.min(good + step, bad - 1);
    const more = columnsOf(lines.slice(at, next));
    if (more) [good, columns] = [next, more];
    else bad = next;
    step = more && bad > end ? 2 * step : Math.max(1, (bad - good) >> 1);
  }
  return { end: good, columns };
}

const escaped = (text) => text.replaceAll('|', '\\|');

function tableOf(lines, columns) {
  const rows = lines.map(({ cells }) => {
    const row = new Array(columns.length).fill('');
    for (const cell of cells) row[placeOf(columns, cell)] = escaped(cell.text);
    return row;
  });
  if (lines.every(({ rtl }) => rtl)) for (const row of rows) row.reverse();
  const written = (row) => `| ${row.join(' | ')} |`;
  return [written(rows[0]), `|${' --- |'.repeat(columns.length)}`, ...rows.slice(1).map(written)];
}

/** The Markdown lines of a page. */
export function markdownOf(lines, { body, larger }) {
  const out = [];
  let run = 0; // where the next lines with several cells end
  for (let at = 0; at < lines.length;) {
    if (run < at) run = at;
    while (run < lines.length && lines[run].cells.length >= 2) run += 1;
    // A line above the table, or below it, may have cells by chance.
    const table = tableAt(lines, at, run);
    if (table) {
      if (out.length) out.push('');
      for (const row of tableOf(lines.slice(at, table.end), table.columns)) out.push(row);
      out.push('');
      at = table.end;
      continue;
    }
    const line = lines[at];
    const before = lines[at - 1];
    const text = line.cells.map((cell) => cell.text).join('  ');
    const rank = larger.findIndex((height) => Math.round(line.height * 2) / 2 >= height);
    const heading = body > 0 && rank >= 0 && text.length <= MAX_HEADING_CHARS && /\p{L}/u.test(text);
    const apart = before && out.length && out.at(-1) !== '' && (heading || before.y - line.y > PARAGRAPH_GAP * Math.max(line.height, before.height) || line.y > before.y + line.height);
    if (apart) out.push('');
    if (heading) out.push(`${'#'.repeat(Math.min(rank, 3) + 1)} ${text}`, '');
    else out.push(text.replace(BULLET, '- '));
    at += 1;
  }
  while (out.at(-1) === '') out.pop();
  return out.filter((text, index) => text !== '' || out[index - 1] !== '');
}

// The lines of a PDF's page, from pieces of text at places. Without side effects.
import { columnByColumn } from './pdf-columns.js';
import { spaces } from './pdf-glyphs.js';
import { IDEOGRAPH, LEFT_TO_RIGHT, RIGHT_TO_LEFT, composed, count, isLogical, raised, readingOrder, unspaced, withPlainForms } from './pdf-letters.js';

/** A gap of so many times the height of the text separates two cells of a line; a smaller one of so many, two words. */
const CELL_GAP = 1.2;
const WORD_GAP = 0.12;
/** A gap of so many may be that between two columns of text, if the lines beside it say so. */
const COLUMN_GAP = 0.6;
/** Text that is turned by less is on a page that was scanned a little askew. */
const ASKEW = 5;
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

/** So many lines are compared with what stands on the page besides its text. */
const MAX_COMPARED = 10_000_000;
/** A cell with more gaps that may be between columns is no line of them. */
const MAX_PARTS = 8;

/** The cells of a line: `[{ text, from, to, y, height, parts }]`. `parts`: the same for its parts, if it has gaps that may be between columns. */
function cellsOf({ y, height, pieces }) {
  const cells = [];
  let last;
  let spaceTo = -Infinity; // where a space after the last piece ends
  for (const { text, x, y: base, width, height: high } of pieces) {
    const gap = last ? x - Math.max(last.to, spaceTo) : 0;
    if (text.trim() === '') {
      if (last && gap < CELL_GAP * height && width < CELL_GAP * height) spaceTo = Math.max(spaceTo, x + width);
      continue;
    }
    if (!last || gap > CELL_GAP * height) {
      // The texts are put together at the end, since a line may have very many.
      last = { texts: [text], from: x, to: x + width, y: base, height: high, parts: [{ texts: [text], from: x, to: x + width }] };
      spaceTo = -Infinity;
      cells.push(last);
      continue;
    }
    const before = last.texts.at(-1);
    const apart = (gap > WORD_GAP * height || spaceTo > -Infinity || /\s$/u.test(before)) && !/^\s/u.test(text);
    const close = x - last.to < 0.5 * height && IDEOGRAPH.test(before.at(-1)) && IDEOGRAPH.test(text[0]);
    const isRaised = !apart && high < 0.85 * last.height && base - last.y > 0.15 * last.height && /^[\d+\-−–]*\d[\d+\-−–]*\s*$/.test(text) && /[\p{L}\p{N}\p{P})]$/u.test(before);
    const added = [];
    if (apart && !close) {
      const alone = before.trimEnd();
      added.push(spaces(alone.length > 1 ? [...alone.slice(-2)] : [' ', alone], (x - last.to) / height));
      last.texts[last.texts.length - 1] = alone;
    }
    added.push(isRaised ? raised(text) : text);
    if (gap > COLUMN_GAP * height) last.parts.push({ texts: [text], from: x, to: x + width });
    else Object.assign(last.parts.at(-1), { to: x + width }).texts.push(...added);
    last.texts.push(...added);
    last.to = Math.max(last.to, x + width);
    spaceTo = -Infinity;
    if (high > last.height) [last.height, last.y] = [high, base];
  }
  for (const cell of cells) {
    if (cell.parts.length < 2 || cell.parts.length > MAX_PARTS) delete cell.parts;
    for (const one of [cell, ...(cell.parts ?? [])]) {
      one.text = one.texts.join('');
      delete one.texts;
    }
  }
  return cells;
}

/**
 * The lines of a page's text, in the order of the page's content, text in another direction after the rest: `[{ y, height, cells: [{ text, from, to, y, height }] }]`.
 * `items`: of pdf.js, in the order of the page from left to right (.ci/parts.mjs). `inserts`: what stands on the page besides its text (see `addInserts`).
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
  for (const cell of cells) cell.text = withPlainForms(cell.text).trim().replace(/\s/gu, ' ');
  cells = ofSpacedLetters(cells);
  for (const cell of cells) cell.text = composed(unspaced(cell.text).replace(/ +/g, ' '));
  for (const { parts = [] } of cells) for (const part of parts) part.text = composed(withPlainForms(part.text).trim().replace(/\s+/gu, ' '));
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

/**
 * Adds to lines what stands on the page besides its text: `{ rect, text, own }`, `rect` being `[left, bottom, right, top]` as in the PDF. If `own` is
 * set, it becomes a line of its own after that of its place; otherwise it is put into the line beside it, if there is one.
 */
function addInserts(lines, inserts, turn) {
  const added = new Map(); // the new lines, by the line after which they stand
  const usual = lines.map(({ height }) => height).sort((one, other) => one - other)[lines.length >> 1] ?? 10;
  for (const [number, { rect, text, own }] of inserts.entries()) {
    const [one, other] = [turn(rect[0], rect[1]), turn(rect[2], rect[3])];
    const [from, to] = [Math.min(one[0], other[0]), Math.max(one[0], other[0])];
    const [bottom, top] = [Math.min(one[1], other[1]), Math.max(one[1], other[1])];
    const middle = (bottom + top) / 2;
    let [beside, above, off, over] = [undefined, -1, Infinity, Infinity];
    // On a page that was made to be slow, the rest stands at its end.
    if (number * lines.length > MAX_COMPARED) above = lines.length - 1;
    else for (const [index, line] of lines.entries()) {
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

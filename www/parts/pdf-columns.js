// Columns of text that stand side by side on a page of a PDF. Without side effects.

/** A distance of so many times their height separates two paragraphs. */
export const PARAGRAPH_GAP = 1.7;
/** Columns of text have so many lines at most; a page with more was made to be slow. */
const MAX_COLUMN_LINES = 400;
const MAX_COLUMNS = 4;
/** Lines that are no columns of text may be some after a few others. */
const MAX_TRIES = 4;

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
export function columnByColumn(lines, runsLeft) {
  const out = [];
  let [known, tries] = [0, 0]; // where lines end that are no columns of text, and how often that was found
  for (let at = 0; at < lines.length;) {
    if (at >= known) tries = 0;
    let found;
    if (tries < MAX_TRIES && mayBeColumns(lines[at], lines[at + 1])) {
      const both = [true, false].map((more) => columnsAt(lines, at, more));
      found = both.find(({ columns }) => columns.length > 1 && columns.every(({ cells }) => cells.length >= 2 && isProse(cells)));
      [known, tries] = [Math.max(known, both[0].end), tries + 1];
    }
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

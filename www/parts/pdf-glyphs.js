// What the reader of pdf.js asks about each glyph that a page draws (the changes of .ci/parts.mjs). Without side effects.

/** A glyph is a copy if the same one was drawn so near, in heights of the text, and nearer than half of its own width. */
const ALONG = 0.15;
const ACROSS = 0.2;
/** A glyph that begins so far from the end of the last one, in heights, does not just go on. */
const STEP = 0.02;
/** Places of one character that are kept in one row; a page that draws more of them there was made to be slow. */
const MAX_IN_ROW = 256;

/**
 * The glyphs that one page has drawn. Bold text, outlines and shadows are often made of several copies of the same text with small
 * offsets; only the first is text.
 */
export class DrawnGlyphs {
  #rows = new Map(); // of each character: its places by row, a row being a point high
  #end = [NaN, NaN];
  #copying = false;

  /** Whether a glyph is a copy of an earlier one. `transform`: of the text, on the page. `advance`: its width in units of the page. */
  isCopy(char, [a, b, c, d, x, y], advance) {
    const height = Math.hypot(c, d) || 1;
    const scale = Math.hypot(a, b) || 1;
    const [along, across] = [a / scale, b / scale];
    const goesOn = Math.abs(x - this.#end[0]) + Math.abs(y - this.#end[1]) < STEP * height;
    this.#end = [x + along * advance, y + across * advance];
    let rows = this.#rows.get(char);
    if (!rows) this.#rows.set(char, rows = new Map());
    const row = Math.round(y);
    // Most glyphs follow the last one, so they need not be looked for.
    if (!goesOn || this.#copying) {
      const near = Math.min(ALONG * height, 0.5 * Math.abs(advance) || ALONG * height);
      const reach = Math.min(4, Math.ceil(ACROSS * height));
      for (let at = row - reach; at <= row + reach; at += 1) {
        for (const [left, base] of rows.get(at) ?? []) {
          const [dx, dy] = [x - left, y - base];
          if (Math.abs(dx * along + dy * across) <= near && Math.abs(dy * along - dx * across) <= ACROSS * height) {
            this.#copying = true;
            return true;
          }
        }
      }
      this.#copying = false;
    }
    const places = rows.get(row);
    if (!places) rows.set(row, [[x, y]]);
    else if (places.length < MAX_IN_ROW) places.push([x, y]);
    return false;
  }
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The characters of a glyph in the order of the page, from left to right. A ligature of a script that runs to the left has them the other way round. */
export const inDrawnOrder = (chars) => (chars.length > 1 && RIGHT_TO_LEFT.test(chars) ? [...chars].reverse().join('') : chars);

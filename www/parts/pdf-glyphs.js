// What the reader of pdf.js asks about each glyph that a page draws (the changes of .ci/parts.mjs). Without side effects.

/** A glyph is a copy if the same one was drawn so near, in heights of the text, and nearer than half of its own width. */
const ALONG = 0.15;
const ACROSS = 0.2;
/** A glyph goes on from the last one if it begins so little before its end, or so little after it. */
const BACK = 0.06;
const FORTH = 1;
/** Runs of glyphs at the same height that are kept; a page with more of them was made to be slow. */
const MAX_IN_ROW = 200;
/** After so many copies of one page, they are read like other text, so that the limits of a page are reached. */
const MAX_COPIES = 50_000;

/**
 * The glyphs that one page has drawn, in runs of glyphs that follow each other. Bold text, outlines and shadows are often made of several copies of
 * the same text with small offsets; only the first is text.
 */
export class DrawnGlyphs {
  /** How many glyphs were copies. */
  copies = 0;
  #rows = new Map(); // the runs, by the place of their line across its direction
  #run; // the last run: `{ chars, places, line, cos }`, the places being along the direction of the text
  #copied; // the run that is being copied, and the glyph in it

  /**
   * Whether a glyph is a copy of an earlier one. `transform`: of the text, on the page; `end`: that at the end of the last glyph that was none.
   * `width`: of the glyph, in heights of its text.
   */
  isCopy(char, transform, end, width) {
    if (this.copies >= MAX_COPIES || !this.#wasDrawn(char, transform, end, width)) return false;
    this.copies += 1;
    return true;
  }

  #wasDrawn(char, [a, b, c, d, x, y], end, width) {
    const scale = Math.sqrt(a * a + b * b) || 1;
    const height = Math.sqrt(c * c + d * d) || 1;
    const [cos, sin] = [a / scale, b / scale];
    const along = x * cos + y * sin;
    const line = y * cos - x * sin;
    const near = height * Math.min(ALONG, 0.5 * width || ALONG);
    const same = (run, at) => run.chars[at] === char && Math.abs(run.places[at] - along) <= near;
    if (this.#copied) {
      const [run, at] = this.#copied;
      if (same(run, at + 1) && Math.abs(line - run.line) <= ACROSS * height) {
        this.#copied[1] += 1;
        return true;
      }
      this.#copied = undefined;
    } else if (this.#run && end && Math.abs(line - this.#run.line) < BACK * height && cos === this.#run.cos) {
      const gap = along - end[4] * cos - end[5] * sin;
      if (gap < -BACK * height && same(this.#run, this.#run.chars.length - 1)) return true;
      if (gap > -BACK * height && gap < FORTH * height) {
        // Assigned, not pushed: that is slow in Node.js 20, where the build of pdf.js replaces it.
        this.#run.chars[this.#run.chars.length] = char;
        this.#run.places[this.#run.places.length] = along;
        return false;
      }
    }
    const row = Math.round(line);
    const reach = Math.min(4, Math.ceil(ACROSS * height));
    for (let at = row - reach; at <= row + reach; at += 1) {
      for (const run of this.#rows.get(at) ?? []) {
        if (Math.abs(line - run.line) > ACROSS * height || along < run.places[0] - near || along > run.places.at(-1) + near || cos !== run.cos) continue;
        const found = run.places.findIndex((_, index) => same(run, index));
        if (found < 0) continue;
        this.#copied = [run, found];
        return true;
      }
    }
    this.#run = { chars: [char], places: [along], line, cos };
    const runs = this.#rows.get(row);
    if (!runs) this.#rows.set(row, [this.#run]);
    else if (runs.length < MAX_IN_ROW) runs.push(this.#run);
    return false;
  }
}

/** So wide is one of the spaces that stand for a gap between two letters, in heights of the text. */
export const SPACE = 0.14;

/**
 * The spaces for a gap of so many heights after a text. After a letter that stands alone it is as many as are as wide: then words whose letters
 * are spaced can be told apart (`unspaced` in www/parts/pdf-letters.js). `chars`: the pieces of the text.
 */
export const spaces = (chars, gap) => (chars.length < 2 || chars.at(-2).trim() === '' ? ' '.repeat(Math.max(1, Math.min(12, Math.round(gap / SPACE)))) : ' ');

const RIGHT_TO_LEFT = /^(?:[\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\p{M})+$/u;

/** The characters of a glyph in the order of the page, from left to right. A ligature of a script that runs to the left has them the other way round. */
export const inDrawnOrder = (chars) => (chars.length > 1 && RIGHT_TO_LEFT.test(chars) ? [...chars].reverse().join('') : chars);

// Pictures of the app, compared with those that are kept. A kept picture is small, one pixel for each cell of 10 by 10: it shows
// what moved, appeared or changed its colour, and not how a machine smooths its letters.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import sharp from 'sharp';
import { root } from './site.mjs';

const folder = path.join(root, 'tests/e2e/pictures');
const CELL = 10;
/** A cell differs if a channel does by more than this, of 255. */
const MOST = 8;
/** The share of cells that may differ: times and port numbers are among the texts. */
const SHARE = 0.008;

const fontOf = (name) => readFileSync(createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)).toString('base64');
let faces;
/** Sets fonts that are the same on every machine. The page's policy has to be bypassed for them. */
export async function sameFonts(page) {
  faces ??= [['DejaVuSans', 'Same Sans', 400], ['DejaVuSans-Bold', 'Same Sans', 600], ['DejaVuSansMono', 'Same Mono', 400]].map(
    ([file, family, weight]) => `@font-face { font-family: '${family}'; font-weight: ${weight}; src: url(data:font/ttf;base64,${fontOf(file)}); }`,
  ).join('\n');
  await page.addStyleTag({ content: `${faces}\n:root { --font: 'Same Sans' !important; --mono: 'Same Mono' !important; }` });
  // The app's own fallbacks are fonts that a machine may lack.
  await page.evaluate(() => Promise.all([...document.fonts].filter(({ family }) => /^"?(Same |Heading"?$)/.test(family)).map((face) => face.load())));
}

/** Pictures that are compared with those in one kept file, one below the other; `UPDATE=1` keeps them instead. */
export class Pictures {
  #taken = [];
  #faults = [];
  #kept;

  constructor(name) {
    this.file = path.join(folder, `${name}.png`);
  }

  async take(page, state) {
    const { data, info } = await sharp(await page.screenshot({ animations: 'disabled', caret: 'hide', scale: 'css' })).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const [width, height] = [Math.ceil(info.width / CELL), Math.ceil(info.height / CELL)];
    const options = { raw: { width: info.width, height: info.height, channels: 3 } };
    const cells = await sharp(data, options).resize(width, height, { fit: 'fill', kernel: 'linear' }).raw().toBuffer();
    const at = this.#taken.push({ cells, width, height }) - 1;
    if (process.env.UPDATE) return;
    const before = await this.#before(at, width, height);
    if (!before) return void this.#faults.push(`${state}: no picture of this size is kept`);
    const rows = [];
    for (let cell = 0; cell < width * height; cell += 1) {
      if ([0, 1, 2].some((channel) => Math.abs(before[cell * 3 + channel] - cells[cell * 3 + channel]) > MOST)) rows.push(Math.floor(cell / width) * CELL);
    }
    const share = rows.length / (width * height);
    if (process.env.SAY) console.log(`${path.basename(this.file)} ${state}: ${(share * 100).toFixed(2)} %`);
    if (share > SHARE) this.#faults.push(`${state}: ${(share * 100).toFixed(1)} % of the picture has changed, between y = ${rows.at(0)} and ${rows.at(-1) + CELL} px`);
  }

  async #before(at, width, height) {
    this.#kept ??= existsSync(this.file) ? sharp(this.file).removeAlpha().raw().toBuffer({ resolveWithObject: true }) : undefined;
    const kept = await this.#kept;
    const [from, length] = [at * width * height * 3, width * height * 3];
    return kept?.info.width === width && kept.data.length >= from + length ? kept.data.subarray(from, from + length) : undefined;
  }

  async end() {
    if (process.env.UPDATE) {
      const [{ width, height }] = this.#taken;
      mkdirSync(folder, { recursive: true });
      const all = Buffer.concat(this.#taken.map(({ cells }) => cells));
      await sharp(all, { raw: { width, height: height * this.#taken.length, channels: 3 } }).png({ compressionLevel: 9, effort: 10 }).toFile(this.file);
    }
    assert.deepEqual(this.#faults, [], `${path.basename(this.file)}: look at the screenshots in tests/e2e/shots; if the change is meant, UPDATE=1 keeps it`);
  }
}

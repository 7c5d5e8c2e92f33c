// Films a page: screenshots taken while something happens, as one animated WebP.
import sharp from 'sharp';

const EVERY = 100; // ms between screenshots, where the machine is fast enough
const CALM = 360; // minimum ms that a frame stays after much of the page has changed: each such frame is large
const MUCH = 0.1; // as a share of the page

/** Takes screenshots of `page` while `story()` runs: [{ at, png }], `at` in ms. */
export async function film(page, story) {
  const shots = [];
  let going = true;
  const began = performance.now();
  const camera = (async () => {
    while (going) {
      const at = performance.now() - began;
      shots.push({ at, png: await page.screenshot({ caret: 'initial' }) });
      const rest = EVERY - (performance.now() - began - at);
      if (rest > 0) await page.waitForTimeout(rest);
    }
  })();
  try {
    await story();
  } finally {
    going = false;
    await camera;
  }
  return shots;
}

/** Writes the frames to `file`, without those that show nothing new. The last one stays for `pause` ms. */
export async function develop(shots, file, { pause }) {
  const kept = [];
  let before;
  for (const [i, shot] of shots.entries()) {
    const pixels = await sharp(shot.png).removeAlpha().raw().toBuffer();
    const change = before ? changed(before, pixels) : 1;
    const early = change > MUCH && shot.at - (kept.at(-1)?.at ?? -CALM) < CALM;
    if (change === 0 || (early && i < shots.length - 1)) continue;
    kept.push(shot);
    before = pixels;
  }
  const delay = kept.map(({ at }, i) => (i + 1 < kept.length ? Math.round(kept[i + 1].at - at) : pause));
  const { size } = await sharp(kept.map(({ png }) => png), { join: { animated: true }, limitInputPixels: false })
    .webp({ lossless: true, effort: 6, minSize: true, loop: 0, delay })
    .toFile(file);
  return { size, pictures: kept.length, seconds: delay.reduce((sum, ms) => sum + ms, 0) / 1000 };
}

/** The share of pixels that differ. */
function changed(a, b) {
  let count = 0;
  for (let i = 0; i < a.length; i += 3) if (a[i] !== b[i] || a[i + 1] !== b[i + 1] || a[i + 2] !== b[i + 2]) count += 1;
  return count / (a.length / 3);
}

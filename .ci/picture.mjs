// node .ci/picture.mjs: records the app while the demo model runs out of turns and concludes, light and dark, for README.md.
// SITE: another build than dist/.
import path from 'node:path';
import { withApp } from '../tests/e2e/lib/app.mjs';
import { develop, film } from '../tests/e2e/lib/film.mjs';
import { root } from '../tests/e2e/lib/site.mjs';

// As wide as the column of a README on GitHub, and sharp on most screens. The first frame ends below the two examples.
const VIEW = { viewport: { width: 880, height: 660 }, deviceScaleFactor: 1.5 };
const PAUSE = 3000;

for (const [colorScheme, name] of [['light', 'run'], ['dark', 'run-dark']]) {
  const file = path.join(root, '.github', `${name}.webp`);
  const shots = await withApp({ pace: true, context: { ...VIEW, colorScheme } }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return film(page, () => story(page));
  });
  const { size, pictures, seconds } = await develop(shots, file, { pause: PAUSE });
  console.log(`${path.relative(root, file)}: ${Math.round(size / 1000)} KB, ${pictures} pictures, ${seconds.toFixed(1)} s`);
}

/** Runs the example with too few turns to its end, then scrolls up to the start of its conclusion. */
async function story(page) {
  const example = page.getByRole('button', { name: /Limit and synthesis/ });
  await page.waitForTimeout(900);
  await example.hover();
  await page.waitForTimeout(500);
  await example.click();
  // Away from anything that reacts to hovering.
  await page.mouse.move(VIEW.viewport.width - 8, VIEW.viewport.height - 8);
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await page.waitForTimeout(900);
  await page.evaluate(() => {
    const transcript = document.querySelector('#transcript');
    const synthesis = document.querySelector('section.turn[data-level=synthesis]');
    const { top, bottom } = transcript.getBoundingClientRect();
    const way = synthesis.getBoundingClientRect().top - top - 16;
    // Scrolls a little less if the lower edge would cut through a line.
    const text = document.createRange();
    text.selectNodeContents(synthesis.querySelector('.prose'));
    const cut = [...text.getClientRects()].filter((line) => line.height < 40 && line.top < bottom + way && line.bottom > bottom + way);
    transcript.scrollBy({ top: way - Math.max(0, ...cut.map((line) => bottom + way - line.top + 2)), behavior: 'smooth' });
  });
  await page.waitForTimeout(1000);
}

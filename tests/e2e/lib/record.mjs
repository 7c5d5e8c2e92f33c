// A long record in the app: opening it, scrolling through it, and what it takes.
import { drop } from './app.mjs';

/** Drops the file and waits until its first turns and its ending are shown. Returns the milliseconds from the drop to that paint. */
export async function open(page, file) {
  await page.evaluate(() => {
    window.addEventListener('drop', () => { window.dropped = performance.now(); }, { capture: true, once: true });
    window.painted = new Promise((resolve) => {
      const look = () => {
        const there = document.querySelector('section.turn') && document.querySelector('.panel .ends');
        // After the frame that shows it.
        if (there) requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0));
        else requestAnimationFrame(look);
      };
      look();
    });
  });
  await drop(page, [file]);
  return page.evaluate(async () => (await window.painted) - window.dropped);
}

/** Scrolls through the whole transcript, a screen every few frames; returns the gaps between frames in milliseconds. */
export const scroll = (page) => page.evaluate(async () => {
  const scroller = document.getElementById('transcript');
  const gaps = [];
  let last = performance.now();
  for (let frame = 0; frame < 360; frame += 1) {
    scroller.scrollTop += frame % 90 === 89 ? 20000 : 260;
    const now = await new Promise((resolve) => { requestAnimationFrame(resolve); });
    gaps.push(now - last);
    last = now;
  }
  return gaps.slice(2);
});

export const memory = async (page) => {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage');
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1048576;
};

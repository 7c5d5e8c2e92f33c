// node .ci/font.mjs FOLDER: writes the typeface of headings and numerals into FOLDER: Hanken Grotesk in one weight, with the letters of Latin
// scripts, numerals, punctuation, kerning and tabular figures. Letters beyond Western European ones are a file of their own, which loads
// if a heading has one. `www/app/styles/base.css` declares both, with the same ranges.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import subset from 'subset-font';

/** file -> the source's part, and the code points, from and to. */
const FILES = {
  'heading.woff2': ['latin', [[0x20, 0x7e], [0xa0, 0xff], [0x131, 0x131], [0x152, 0x153], [0x2013, 0x2014], [0x2018, 0x201e], [0x2022, 0x2022], [0x2026, 0x2026], [0x20ac, 0x20ac], [0x2122, 0x2122], [0x2212, 0x2212]]],
  'heading-more.woff2': ['latin-ext', [[0x100, 0x130], [0x132, 0x151], [0x154, 0x17f], [0x218, 0x21b]]],
};
const WEIGHT = 600;

const folder = path.join(process.argv[2], 'fonts');
mkdirSync(folder, { recursive: true });
for (const [file, [part, ranges]] of Object.entries(FILES)) {
  const whole = createRequire(import.meta.url).resolve(`@fontsource-variable/hanken-grotesk/files/hanken-grotesk-${part}-wght-normal.woff2`);
  const text = ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => String.fromCodePoint(from + n))).join('');
  writeFileSync(path.join(folder, file), await subset(readFileSync(whole), text, { targetFormat: 'woff2', variationAxes: { wght: WEIGHT }, keepFeatures: ['kern', 'tnum'] }));
}

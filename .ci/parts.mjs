// node .ci/parts.mjs FOLDER: bundles the parts of the tools' worker that are JavaScript (www/parts) into FOLDER. Each is one file
// without imports, since bundlers copy it as it is.
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const folder = process.argv[2];
const modules = path.join(import.meta.dirname, 'node_modules');
const parts = path.resolve(import.meta.dirname, '../www/parts');
const pdfjs = path.join(modules, 'pdfjs-dist');

// pdf.js runs without Node.js's own modules everywhere, and the code of its worker must not take over the worker it runs in.
// `[what, by what, in which file]`; the rest are changes of its `getTextContent`, whose results www/parts/pdf-lines.js reads.
const WORKER = 'pdf.worker.mjs';
const CHANGES = [
  [/^const isNodeJS = .*;$/m, 'const isNodeJS = false;'],
  [/^    if \(typeof window === "undefined" && !isNodeJS && typeof self !== "undefined" .*\) \{$/m, '    if (false) {', WORKER],
  // So many characters may one character map have. Real ones have some ten thousand, and a gigabyte is what sixteen million take.
  [/^const MAX_MAP_RANGE = 2 \*\* 24 - 1;$/m, 'const MAX_MAP_RANGE = 2 ** 20;', WORKER],
  // The order of the page is kept: which text runs to the left is only known of a whole line. And whether a font says its characters.
  [/^      const bidiResult = bidi\(text, -1, textChunk\.vertical\);$/m, '      const bidiResult = { str: text, dir: textChunk.vertical ? "ttb" : "ltr" };', WORKER],
  [/(?<=^        fontName: textChunk\.fontName,\n)(?=        hasEOL: textChunk\.hasEOL$)/m, '        ...(textChunk.unmapped && { unmapped: true }),\n', WORKER],
  [/(?<=^      textContentItem\.fontName = loadedName;\n)/m, '      textContentItem.unmapped = font.composite && font.toUnicode instanceof IdentityToUnicodeMap;\n', WORKER],
  [/^        const glyphUnicode = glyph\.unicode;$/m, '        const glyphUnicode = inDrawnOrder(glyph.unicode);', WORKER],
  // A soft hyphen that is drawn is a hyphen; one at the end of a line divides a word.
  [/^        if \(category\.isInvisibleFormatMark\) \{$/m, '        if (category.isInvisibleFormatMark && !(glyph.unicode === "\\u00ad" && glyph.width > 0)) {', WORKER],
  // Copies of glyphs are left out; glyphs outside of the page are, too, and that is told. `seenStyles` is what all streams of one text share.
  [/^        if \(!category\.isZeroWidthDiacritic && !compareWithLastPosition\(scaledDim\)\) \{$/m, `        const transform = getCurrentTextTransform();
        if ((seenStyles.drawnGlyphs ??= new DrawnGlyphs()).isCopy(glyph.unicode, transform, textContentItem.prevTransform, Math.abs(scaledDim / textState.fontSize))) {
          if (font.vertical) textState.translateTextMatrix(0, scaledDim - charSpacing);
          else textState.translateTextMatrix((scaledDim + charSpacing) * textState.textHScale, 0);
          continue;
        }
        if (!category.isZeroWidthDiacritic && !compareWithLastPosition(scaledDim, transform)) {
          if (!seenStyles.toldOutside) textContent.items.push({ outside: seenStyles.toldOutside = true });`, WORKER],
  [/function compareWithLastPosition\(glyphWidth\) \{\n {6}const currentTransform = getCurrentTextTransform\(\);/, 'function compareWithLastPosition(glyphWidth, currentTransform = getCurrentTextTransform()) {', WORKER],
  [/(?<=^        if \(textContentItem\.initialized\) \{\n          resetLastChars\(\);\n          textContentItem\.str\.push\()" "/m, 'spaces(textContentItem.str, Math.abs(width / textState.fontSize))', WORKER],
  // A form whose text was only copies may be drawn again elsewhere.
  [/(?<=^ {16}if \(!sinkWrapper\.enqueueInvoked)(?=\) \{$)/m, ' && !seenStyles.drawnGlyphs?.copies', WORKER],
  // The kids of a radio button share its description.
  [/^    data\.alternativeText = stringToPDFString\(dict\.get\("TU"\) \|\| ""\);$/m, '    data.alternativeText = stringToPDFString(getInheritableProperty({ dict, key: "TU" }) || "");', WORKER],
  // What stamps, signatures and buttons show is text, too.
  [/(?<=^  get hasTextContent\(\) \{\n    return )false(?=;$)/m, '!!this.appearance && (/^(Stamp|Watermark|Redact)$/.test(this.data.subtype) || this.data.fieldType === "Sig" || this.data.pushButton)', WORKER],
];
const HEADS = { [WORKER]: `import { DrawnGlyphs, inDrawnOrder, spaces } from ${JSON.stringify(path.join(parts, 'pdf-glyphs.js'))};\n` };
const changed = {
  name: 'pdf.js in a worker of ours',
  setup({ onLoad }) {
    onLoad({ filter: /pdfjs-dist[\\/]legacy[\\/]build[\\/]pdf(\.worker)?\.mjs$/ }, ({ path: file }) => {
      let contents = readFileSync(file, 'utf8');
      for (const [from, to, only] of CHANGES) {
        if (only && path.basename(file) !== only) continue;
        if (!from.test(contents)) throw new Error(`${file} has no ${from}: look what the new version does instead`);
        contents = contents.replace(from, to);
      }
      return { contents: `${HEADS[path.basename(file)] ?? ''}${contents}`, loader: 'js' };
    });
  },
};

// SQLite: each start makes an instance, so that one that trapped is not used again.
const restartable = {
  name: 'SQLite that starts again',
  setup({ onLoad }) {
    onLoad({ filter: /sql-wasm-browser\.js$/ }, ({ path: file }) => {
      const once = /if \(initSqlJsPromise\)\s*\{\s*return initSqlJsPromise;\s*\}/;
      const contents = readFileSync(file, 'utf8');
      if (!once.test(contents)) throw new Error(`${file} has no ${once}: look what the new version does instead`);
      return { contents: contents.replace(once, ''), loader: 'js' };
    });
  },
};

await build({
  entryPoints: ['archive.js', 'pdf.js', 'sql.js'].map((name) => path.join(parts, name)), outdir: folder, bundle: true, nodePaths: [modules], format: 'esm', target: 'es2022', platform: 'browser',
  minify: true, lineLimit: 400, charset: 'utf8', legalComments: 'none', logLevel: 'error', external: ['node:*'], plugins: [changed, restartable],
});

// The character maps in one file: the length of a JSON index in 4 bytes, the index `{ name: [start, length] }`, the maps.
const from = path.join(pdfjs, 'cmaps');
const names = readdirSync(from).filter((name) => name.endsWith('.bcmap')).sort();
const index = {};
const files = names.map((name) => readFileSync(path.join(from, name)));
let start = 0;
for (const [place, name] of names.entries()) {
  index[name] = [start, files[place].length];
  start += files[place].length;
}
const head = Buffer.from(JSON.stringify(index));
const length = Buffer.alloc(4);
length.writeUInt32LE(head.length);
writeFileSync(path.join(folder, 'pdf-maps.bin'), Buffer.concat([length, head, ...files]));

// SQLite.
copyFileSync(path.join(modules, 'sql.js/dist/sql-wasm-browser.wasm'), path.join(folder, 'sql_bg.wasm'));

// PDFs made here for tests of their reader: pages of text at places, forms, annotations.
import { pdfOf } from '../../../.ci/made-files.mjs';

export const stream = (content, more = '') => `<< /Length ${content.length} ${more} >>\nstream\n${content}\nendstream`;
const escaped = (text) => text.replace(/[()\\]/g, '\\$&');
/** Text at a place. `matrix`: the first four numbers of its matrix. */
export const at = (x, y, text, { size = 11, matrix = '1 0 0 1', more = '' } = {}) => `BT /F1 ${size} Tf ${more} ${matrix} ${x} ${y} Tm (${escaped(text)}) Tj ET`;
export const HELVETICA = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

/**
 * A font whose glyphs are `chars`, in the order of their codes from 1 on, each a string: one glyph may be several characters. All are `width` thousandths wide.
 * Without `mapped`, it does not say which characters they are.
 */
const cidFont = (chars, { width = 500, mapped = true, vertical = false } = {}) => {
  const hex = (text) => Buffer.from(text, 'utf16le').swap16().toString('hex');
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange ${chars.length} beginbfchar ${chars.map((char, n) => `<${(n + 1).toString(16).padStart(4, '0')}> <${hex(char)}>`).join('\n')} endbfchar endcmap`;
  return {
    font: `<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-${vertical ? 'V' : 'H'} /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW ${width} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /A /Flags 4 >> >>] ${mapped ? '/ToUnicode 6 0 R' : ''} >>`,
    map: stream(map),
  };
};

/** One page: `content` of its stream, `font`, entries of the page, its resources and the catalog, and further objects from 6 on. */
export const page = (content, { font = HELVETICA, of = '', catalog = '', resources = '', more = [] } = {}) => pdfOf([
  `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`, '<< /Type /Pages /Kids [4 0 R] /Count 1 >>', font,
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> ${resources} >> /Contents 5 0 R ${of} >>`,
  stream(Array.isArray(content) ? content.join('\n') : content), ...more,
]);

/** One page in a font of its own: `draws` are `[x, y, glyphs]`, each glyph one of `chars`. */
export function pageOfGlyphs(chars, draws, { size = 12, ...options } = {}) {
  const { font, map } = cidFont(chars, options);
  const code = (glyph) => (chars.indexOf(glyph) + 1).toString(16).padStart(4, '0');
  return page(draws.map(([x, y, glyphs]) => `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm <${glyphs.map(code).join('')}> Tj ET`), { font, more: [map] });
}

/** A page with a text and annotations, from object 8 on: the text of each one's dictionary. `APPEARANCE` in it shows `shows`; the form 7 shows `also`. */
export const annotated = (content, annotations, { shows = '', also = '', catalog = '', more = [] } = {}) => page(content, {
  catalog, of: `/Annots [${annotations.map((_, n) => `${n + 8} 0 R`).join(' ')}]`,
  more: [
    ...[shows, also].map((shown) => stream(shown, '/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >>')),
    ...annotations.map((one) => `<< /Type /Annot /F 4 ${one.replaceAll('APPEARANCE', '/AP << /N 6 0 R >>')} >>`), ...more,
  ],
});

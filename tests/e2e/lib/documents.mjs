// Small documents, made here: PDFs, workbooks, presentations and archives, whole and hostile.
import { pdfOf, zip } from '../../../.ci/made-files.mjs';

export { zip };

/** A PDF with one page for each list of lines `[size, text, x]`; an empty list is a page without text. */
export function pdf(pages) {
  const objects = [];
  const add = (text) => objects.push(text);
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ');
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  pages.forEach((lines, index) => {
    let y = 760;
    const content = lines.map(([size, text, x = 60, same = false]) => {
      if (!same) y -= 2 * size;
      return `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`;
    }).join('\n') || '0 0 612 792 re f';
    add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`);
    add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  });
  return pdfOf(objects);
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...of) => `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${of.map(([kind, target], at) => `<Relationship Id="rId${at + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`).join('')}</Relationships>`;

/** A workbook. `sheets`: `{ name: rows of texts and numbers }`; or the XML of a sheet's rows. `parts` replaces files of the package, adds some, or leaves one out (null). */
export function xlsx(sheets, parts = {}) {
  const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const names = Object.keys(sheets);
  const cell = (value, row, column) => {
    const at = `${String.fromCharCode(65 + column)}${row + 1}`;
    return typeof value === 'number' ? `<c r="${at}"><v>${value}</v></c>` : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  const rows = (of) => (typeof of === 'string' ? of : of.map((row, at) => `<row r="${at + 1}">${row.map((value, column) => cell(value, at, column)).join('')}</row>`).join(''));
  const files = [
    ['_rels/.rels', relations(['officeDocument', 'xl/workbook.xml'])],
    ['xl/workbook.xml', `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${names.map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`).join('')}</sheets></workbook>`],
    ['xl/_rels/workbook.xml.rels', relations(...names.map((_, at) => ['worksheet', `worksheets/sheet${at + 1}.xml`]))],
    ...names.map((name, at) => [`xl/worksheets/sheet${at + 1}.xml`, `<worksheet xmlns="${MAIN}"><sheetData>${rows(sheets[name])}</sheetData></worksheet>`]),
  ];
  const own = files.filter(([name]) => !(name in parts));
  return zip([...own, ...Object.entries(parts).filter(([, content]) => content !== null)]);
}

/** A Word document with that XML as its body. `claims`: as that of `zip`. */
export const docx = (body, { before = '', claims } = {}) => zip([
  ['_rels/.rels', relations(['officeDocument', 'word/document.xml'])],
  ['word/document.xml', `${before}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`],
], { claims });
export const paragraph = (text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

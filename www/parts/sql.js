// The part of the tools' worker that runs SQL: SQLite by sql.js, and the loading of tables. It is bundled into `sql.js`, and
// its module is `sql_bg.wasm`; www/worker-parts.js loads both on the first query.
//
// A query names its tables: SQLite says which one it misses, that one is loaded, and the query is prepared again. So only
// named tables are loaded. They stay for later queries, until their file changes. Everything is in memory, and a query runs
// with `query_only`, so it changes nothing, and nothing outside of the database can be reached.
import initSqlJs from 'sql.js/dist/sql-wasm-browser.js';
import { MAX_COLUMNS, delimited, separatorOf, utf8 } from './delimited.js';
import { Columns, columnNames, distinct } from './columns.js';

/** Bytes that SQLite may use. */
const MEMORY = 1 << 30;
/** Bytes of a file that are read to tell its columns, if the file is not loaded. */
const HEAD = 1 << 16;
/** JSON files above this size are not read just to tell their columns. */
const HEAD_JSON = 4 << 20;
/** Workbooks with so many cells together are kept after they were converted. */
const KEPT_CELLS = 4_000_000;
/** Columns named per table, and characters shown of one cell. */
const NAMED_COLUMNS = 60;
const CELL = 2_000;

const OK = 0, ROW = 100, DONE = 101;
const INTEGER = 1, FLOAT = 2, BLOB = 4, NULL = 5;
const STATIC = 0, TRANSIENT = -1;

/** An error whose text is for the model. */
class Fault extends Error {}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

/** Starts SQLite with its compiled module. */
export async function start(module) {
  let memory;
  const sql = await initSqlJs({
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(module, imports).then((instance) => {
        memory = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Memory) ?? Object.values(imports).flatMap(Object.values).find((one) => one instanceof WebAssembly.Memory);
        receive(instance);
      });
      return {};
    },
  });
  return new Tables(sql, () => memory.buffer);
}

/** The database of a worker. */
class Tables {
  constructor(sql, buffer) {
    this.sql = sql;
    this.buffer = buffer;
    this.db = new sql.Database();
    this.handle = this.db.db = this.inMemory(); // the pointer of sqlite3
    this.loaded = new Map(); // name in lower case -> { file, name, path, columns, rows, notes }
    this.aliases = [];
    this.files = []; // of the last query
    this.books = new Map(); // blob of a workbook -> { sheets, cells } or { fault }
    this.db.exec(`PRAGMA hard_heap_limit=${MEMORY}; PRAGMA temp_store=MEMORY;`);
  }

  /** Opens a database in SQLite's own memory, where its limit holds; that of sql.js is a file of Emscripten's. */
  inMemory() {
    const { _sqlite3_open: open, stringToNewUTF8, _malloc: malloc, _free: free } = this.sql;
    const name = stringToNewUTF8(':memory:'), out = malloc(4);
    const code = open(name, out);
    const handle = new DataView(this.buffer()).getUint32(out, true);
    free(name);
    free(out);
    if (code !== OK) throw new Error(`SQLite does not start: ${code}`);
    return handle;
  }

  /** Answers one request of crates/tools/src/tabular/query_table.rs. `blobs` are the contents of its files. `sheets(bytes, name)` reads a workbook. */
  async query(request, blobs, sheets) {
    const files = request.files.map((file, at) => ({ ...file, blob: blobs[at] }));
    try {
      this.forget(files);
      return await this.answer(request, files, sheets);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { fault: error.message, tables: error.tables };
    }
  }

  async answer(request, files, sheets) {
    if (/^(\.tables|show\s+tables|tables)\s*;?$/i.test(request.sql.trim())) return { tables: await this.list(request, files, sheets) };
    const statement = await this.prepare(request, files, sheets);
    this.run('PRAGMA query_only=ON');
    try {
      return this.rows(statement, request);
    } finally {
      this.sql._sqlite3_finalize(statement);
      this.run('PRAGMA query_only=OFF');
    }
  }

  /** Drops the tables whose files changed or are gone, and the other names of tables. */
  forget(files) {
    for (const alias of this.aliases.splice(0)) this.run(`DROP VIEW IF EXISTS ${quoted(alias)}`);
    // The name of a sheet depends on the names of other files, and on the sheets of other workbooks.
    const same = files.length === this.files.length
      && files.every(({ name, format, blob }, at) => name === this.files[at].name && (format !== 'workbook' || blob === this.files[at].blob));
    // A worker keeps one object for the content of a file, until it changes. Where several agents share a thread, each has its own.
    for (const [name, { file, name: own }] of this.loaded) {
      const kept = file.format === 'workbook' ? same : files.some(({ blob, name: of }) => blob === file.blob && of === file.name);
      if (kept) continue;
      this.run(`DROP TABLE ${quoted(own)}`);
      this.loaded.delete(name);
    }
    for (const blob of this.books.keys()) if (!files.some((file) => file.blob === blob)) this.books.delete(blob);
    this.files = files;
  }

  run(sql) {
    this.db.exec(sql);
  }

  /** Prepares the statement; loads the tables that it misses. */
  async prepare(request, files, sheets) {
    const sql = only(request.sql);
    const tried = new Set();
    for (;;) {
      const { statement, error, tail } = this.compiled(sql);
      if (!error) {
        if (!statement) throw new Fault('the query is empty: start with SELECT or WITH');
        if (bare(tail)) {
          this.sql._sqlite3_finalize(statement);
          throw new Fault('one statement at a time: leave out what follows the first `;`');
        }
        return statement;
      }
      const missing = /^no such table: (?:main\.)?(.+)$/s.exec(error)?.[1];
      if (missing === undefined) throw Object.assign(new Fault(error), { tables: /no such column/.test(error) ? this.known() : undefined });
      if (tried.has(missing)) throw new Fault(`${error}; write the name of the table in double quotes`);
      tried.add(missing);
      await this.need(missing, request, files, sheets);
    }
  }

  compiled(sql) {
    const { _sqlite3_prepare_v2: prepare, _sqlite3_errmsg: message, _malloc: malloc, _free: free, UTF8ToString } = this.sql;
    const bytes = encoder.encode(`${sql}\0`);
    const text = malloc(bytes.length), out = malloc(8);
    this.heap().set(bytes, text);
    new DataView(this.buffer()).setUint32(out, 0, true);
    const code = prepare(this.handle, text, -1, out, out + 4);
    const view = new DataView(this.buffer());
    const statement = view.getUint32(out, true), rest = view.getUint32(out + 4, true);
    const tail = code === OK ? UTF8ToString(rest) : '';
    const error = code === OK ? undefined : UTF8ToString(message(this.handle));
    free(text);
    free(out);
    return { statement, error, tail };
  }

  /** Loads the table that a query calls `missing`. */
  async need(missing, request, files, sheets) {
    const wanted = missing.toLowerCase();
    const last = (path) => path.split('/').pop().toLowerCase();
    const file = files.find(({ name, format }) => format !== 'workbook' && name.toLowerCase() === wanted)
      ?? files.find(({ path }) => path.toLowerCase() === wanted)
      ?? (files.filter(({ path }) => last(path) === wanted).length === 1 ? files.find(({ path }) => last(path) === wanted) : undefined);
    if (file && file.format !== 'workbook') {
      await this.load(file);
      this.alias(missing, file.name);
      return;
    }
    const books = file ? [file] : files.filter(({ name, format }) => format === 'workbook' && wanted.startsWith(`${name.toLowerCase()}_`));
    for (const book of books) {
      const found = await this.book(book, files, sheets);
      const sheet = found.find(({ name }) => name.toLowerCase() === wanted) ?? (file && found.length === 1 ? found[0] : undefined);
      if (sheet) {
        if (sheet.fault) throw new Fault(`${book.path}: ${sheet.fault}`);
        this.keep(book, sheet.name, arrays(sheet.rows, sheet.name), sheet.note ? [sheet.note] : []);
        this.alias(missing, sheet.name);
        return;
      }
    }
    throw Object.assign(new Fault(`there is no table ${missing}`), { tables: await this.list(request, files) });
  }

  alias(called, name) {
    if (called.toLowerCase() === name.toLowerCase()) return;
    this.run(`CREATE TEMP VIEW ${quoted(called)} AS SELECT * FROM ${quoted(name)}`);
    this.aliases.push(called);
  }

  async load(file) {
    if (this.loaded.has(file.name.toLowerCase())) return;
    const bytes = await contentOf(file);
    if (file.format === 'json' || file.format === 'jsonl') {
      const { table, notes } = objects(bytes, file);
      this.keep(file, file.name, table, notes);
    } else {
      this.keepText(file, bytes);
    }
  }

  /** The sheets of a workbook with the names of their tables: `[{ name, rows, note, fault }]`. */
  async book(file, files, sheets) {
    // A sheet does not take the name of a file, or of a sheet of a workbook before it.
    const unused = distinct(files.filter(({ format }) => format !== 'workbook').map(({ name }) => name));
    const start = ({ name }) => `${name.toLowerCase()}_`;
    const before = files.slice(0, files.indexOf(file)).filter((other) => other.format === 'workbook'
      && (start(other).startsWith(start(file)) || start(file).startsWith(start(other))));
    let found = [];
    for (const one of [...before, file]) {
      try {
        found = await this.sheetsOf(one, sheets);
      } catch (error) {
        if (one === file || !(error instanceof Fault)) throw error;
        continue;
      }
      found = found.map(({ name, ...sheet }) => {
        const normal = name.replaceAll(/[^\p{L}\p{N}_]+/gu, '_').replaceAll(/^_+|_+$/g, '') || 'sheet';
        return { ...sheet, name: unused(`${one.name}_${normal}`) };
      });
    }
    return found;
  }

  /** The sheets of a workbook, which is converted once: `[{ name, rows, note, fault }]`. */
  async sheetsOf(file, sheets) {
    let book = this.books.get(file.blob);
    if (!book && !sheets) throw new Fault(`${file.path} is a workbook, and workbooks cannot be read here`);
    if (!book) {
      const bytes = await contentOf(file);
      try {
        const read = JSON.parse(await sheets(bytes, file.path));
        book = { sheets: read, cells: read.reduce((sum, { rows }) => sum + rows.length * (rows[0]?.length ?? 0), 0) };
      } catch (error) {
        const trap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
        if (typeof error !== 'string' && !trap) throw new Fault(`${file.path}: ${error.message}`);
        book = { fault: trap ? 'it cannot be read: it is damaged, or needs more memory than a document may' : error, cells: 0 };
      }
      if ([...this.books.values()].reduce((sum, { cells }) => sum + cells, book.cells) > KEPT_CELLS) this.books.clear();
      if (book.cells <= KEPT_CELLS) this.books.set(file.blob, book);
    }
    if (book.fault) throw new Fault(`${file.path}: ${book.fault}`);
    return book.sheets;
  }

  create(name, columns) {
    if (columns.length > MAX_COLUMNS) throw new Fault(tooWide(name));
    this.run(`CREATE TABLE ${quoted(name)} (${columns.map(({ name: column, type }) => `${quoted(column)} ${type}`).join(', ')})`);
  }

  /** Runs `fill(insert)` in a transaction; drops the table if it fails. */
  filled(file, name, columns, fill) {
    this.create(name, columns);
    const { statement, error } = this.compiled(`INSERT INTO ${quoted(name)} VALUES (${columns.map(() => '?').join(',')})`);
    if (error) throw new Fault(error);
    this.run('BEGIN');
    try {
      fill(statement);
      this.run('COMMIT');
    } catch (fault) {
      this.sql._sqlite3_finalize(statement);
      this.run('ROLLBACK');
      this.run(`DROP TABLE IF EXISTS ${quoted(name)}`);
      throw /out of memory/.test(fault.message) ? new Fault(`${file.path} does not fit into the ${MEMORY >> 20} MB that tables may use together`) : fault;
    }
    this.sql._sqlite3_finalize(statement);
  }

  step(statement) {
    if (this.sql._sqlite3_step(statement) !== DONE) throw new Fault(this.sql.UTF8ToString(this.sql._sqlite3_errmsg(this.handle)));
    this.sql._sqlite3_reset(statement);
  }

  /** Loads a delimited text. Cells are bound where they are in the copy of the file in SQLite's memory. */
  keepText(file, bytes) {
    const { bytes: text, note } = utf8(bytes);
    const separator = file.format === 'tsv' ? 9 : separatorOf(text);
    const columns = new Columns();
    let rows = 0;
    const open = delimited(text, separator, (record) => { columns.see(text, record); rows += 1; });
    const notes = [note, open && 'a quoted cell is never closed, so the rest of the file is in it'].filter(Boolean);
    if (!rows) throw new Fault(`${file.path} is empty`);
    const { names, types, header } = columns.ended();
    const { _malloc: malloc, _free: free, _sqlite3_bind_text: bind, _sqlite3_clear_bindings: clear } = this.sql;
    const base = malloc(text.length + 1);
    if (!base) throw new Fault(`${file.path} does not fit into memory`);
    this.heap().set(text, base);
    const textual = types.map((type) => type === 'TEXT');
    try {
      this.filled(file, file.name, names.map((name, at) => ({ name, type: types[at] })), (insert) => {
        let skip = header;
        delimited(text, separator, ({ count, starts, ends, quotes }) => {
          if (skip) { skip = false; return; }
          clear(insert);
          for (let at = 0; at < count; at += 1) {
            const start = starts[at], length = ends[at] - start;
            if (length === 0 && !(quotes[at] && textual[at])) continue; // an empty cell is null
            if (quotes[at] === 2) {
              const own = unescaped(text.subarray(start, ends[at]));
              const place = malloc(own.length || 1);
              this.heap().set(own, place);
              bind(insert, at + 1, place, own.length, TRANSIENT);
              free(place);
            } else {
              bind(insert, at + 1, base + start, length, STATIC);
            }
          }
          this.step(insert);
        });
      });
    } finally {
      free(base);
    }
    this.note(file, file.name, names.map((name, at) => ({ name, type: types[at] })), rows - (header ? 1 : 0), notes);
  }

  /** Loads rows of values. */
  keep(file, name, table, notes) {
    if (this.loaded.has(name.toLowerCase())) return;
    const { rows, cells } = table;
    const columns = columnsOf(table);
    const { _malloc: malloc, _free: free, _sqlite3_bind_text: bind, _sqlite3_bind_double: double, _sqlite3_clear_bindings: clear, _sqlite3_bind_int: int } = this.sql;
    let size = 1 << 16, place = malloc(size);
    try {
      this.filled(file, name, columns, (insert) => {
        for (const row of rows) {
          clear(insert);
          for (const [at, given] of cells(row)) {
            if (given === null || given === undefined || given === '' && table.blanks) continue;
            const value = typeof given === 'boolean' ? Number(given) : given;
            if (typeof value === 'number') {
              if (Number.isInteger(value) && Math.abs(value) < 2 ** 31) int(insert, at + 1, value);
              else double(insert, at + 1, value);
              continue;
            }
            // SQLite makes a number of the digits of a large one, if all of its column are whole numbers.
            const text = typeof value === 'object' ? JSON.stringify(value, withDigits) : String(value);
            if (text.length * 3 > size) {
              free(place);
              size = text.length * 3;
              place = malloc(size);
            }
            const { written } = encoder.encodeInto(text, this.heap().subarray(place, place + size));
            bind(insert, at + 1, place, written, TRANSIENT);
          }
          this.step(insert);
        }
      });
    } finally {
      free(place);
    }
    this.note(file, name, columns, rows.length, notes);
  }

  note(file, name, columns, rows, notes) {
    this.loaded.set(name.toLowerCase(), { file, path: file.path, name, columns, rows, notes });
  }

  heap() {
    const buffer = this.buffer();
    if (this.view?.buffer !== buffer) this.view = new Uint8Array(buffer);
    return this.view;
  }

  /** What a statement returns: the first rows, their number, and all of them as a file. */
  rows(statement, { rows: most, chars, max_rows: limit, max_saved: largest, save }) {
    const { _sqlite3_step: step, _sqlite3_column_count: count, _sqlite3_column_name: columnName, _sqlite3_column_type: type, _sqlite3_column_text: text, _sqlite3_column_bytes: bytes, UTF8ToString } = this.sql;
    const width = count(statement);
    const columns = Array.from({ length: width }, (_, at) => UTF8ToString(columnName(statement, at)));
    const cell = (at, longest) => {
      const kind = type(statement, at);
      if (kind === NULL) return null;
      if (kind === BLOB) return `[${bytes(statement, at)} bytes]`;
      const start = text(statement, at), length = bytes(statement, at);
      const read = decoder.decode(this.heap().subarray(start, start + Math.min(length, longest)));
      if (kind === INTEGER || kind === FLOAT) return /^-?inf$/i.test(read) ? null : new Numeral(read);
      return length > longest ? `${read.replace(/\ufffd$/, '')}…` : read;
    };
    const writer = save && new Writer(save, columns, largest);
    const shown = [];
    let used = 0, total = 0, cut = false;
    for (;;) {
      const code = step(statement);
      if (code === DONE) break;
      if (code !== ROW) {
        const error = UTF8ToString(this.sql._sqlite3_errmsg(this.handle));
        throw new Fault(/out of memory/.test(error) ? `the query needs more than the ${MEMORY >> 20} MB of memory that it may use` : error);
      }
      if (total === limit) { cut = true; break; }
      total += 1;
      if (shown.length < most && used < chars) {
        const row = columns.map((_, at) => cell(at, CELL));
        used += row.reduce((sum, one) => sum + String(one ?? '').length + 3, 0);
        shown.push(row);
      }
      writer?.row(columns.map((_, at) => cell(at, Infinity)));
    }
    const notes = [...this.loaded.values()].flatMap(({ path, notes: own }) => own.map((note) => `${path}: ${note}`));
    return { columns, rows: shown, total, cut, notes, saved: writer?.text() };
  }

  known() {
    return [...this.loaded.values()].map(described);
  }

  /** Tables with their columns, as far as these can be told quickly. Without `sheets`, workbooks that were not read yet are only named. */
  async list({ listed: most }, files, sheets) {
    const tables = [];
    for (const file of files) {
      if (tables.length >= most) break;
      try {
        tables.push(...await this.head(file, files, sheets));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        tables.push({ name: file.name, path: file.path, columns: [], note: error.message });
      }
    }
    return tables;
  }

  async head(file, files, sheets) {
    const own = this.loaded.get(file.name.toLowerCase());
    if (own) return [described(own)];
    const { path, name, format, blob } = file;
    if (format === 'workbook') {
      if (!sheets && !this.books.has(blob)) return [{ name: `${name}_…`, path, columns: [], note: 'a workbook; SHOW TABLES lists its sheets' }];
      const found = await this.book(file, files, sheets);
      return found.map(({ name: sheet, rows, note, fault }) => {
        if (fault || note && !rows.length) return { name: sheet, path, columns: [], note: fault ?? note };
        // One sheet that is no table does not hide the others.
        try {
          const table = arrays(rows, sheet);
          return described({ name: sheet, path, columns: columnsOf(table), rows: table.rows.length });
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          return { name: sheet, path, columns: [], note: error.message };
        }
      });
    }
    if (format === 'json' && blob.size > HEAD_JSON) return [{ name, path, columns: [], note: 'its columns are known once it is queried' }];
    const bytes = await contentOf(file, format === 'json' ? blob : blob.slice(0, HEAD));
    const whole = blob.size <= HEAD || format === 'json';
    if (format === 'json' || format === 'jsonl') {
      const { table } = objects(whole ? bytes : bytes.subarray(0, bytes.lastIndexOf(10)), file);
      return [described({ name, path, columns: columnsOf(table), rows: whole ? table.rows.length : undefined })];
    }
    const { bytes: text } = utf8(bytes, !whole);
    const columns = new Columns();
    let rows = 0;
    delimited(text, format === 'tsv' ? 9 : separatorOf(text), (record) => { rows += 1; columns.see(text, record); }, whole);
    if (!rows) return [{ name, path, columns: [], note: 'it is empty' }];
    const { names, types, header } = columns.ended();
    return [described({ name, path, columns: names.map((column, at) => ({ name: column, type: types[at] })), rows: whole ? rows - (header ? 1 : 0) : undefined })];
  }
}

/** The bytes of a file. A dropped file may have been removed or changed on disk since then. */
async function contentOf({ path, blob }, part = blob) {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch {
    throw new Fault(`${path} can no longer be read; the user must add it again`);
  }
}

const described = ({ name, path, columns, rows }) => ({
  name, path, rows, more: Math.max(0, columns.length - NAMED_COLUMNS),
  columns: columns.slice(0, NAMED_COLUMNS).map(({ name: column, type }) => [column, type.toLowerCase()]),
});

/** A number in the digits in which SQLite writes it. */
class Numeral {
  constructor(digits) { this.digits = digits; }
  toString() { return this.digits; }
  /** A whole number that JavaScript cannot hold exactly becomes text. */
  toJSON() { return /^-?\d{16,}$/.test(this.digits) ? this.digits : Number(this.digits); }
}

/** Text without leading blanks and comments. */
const bare = (sql) => {
  let rest = sql;
  for (;;) {
    const next = rest.replace(/^(?:[\s;]+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))/, '');
    if (next === rest) return rest;
    rest = next;
  }
};

/** The query, if it is one that reads. */
function only(sql) {
  const word = /^[a-z]*/i.exec(bare(sql).replace(/^\(+\s*/, ''))[0].toUpperCase();
  if (['SELECT', 'WITH', 'VALUES', 'EXPLAIN'].includes(word)) return sql;
  throw new Fault(word ? `query_table only reads, so ${word} does not run: start with SELECT or WITH` : 'start the query with SELECT or WITH');
}

/** A quoted cell with its doubled quotes made single. */
function unescaped(bytes) {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    out[length] = bytes[at];
    length += 1;
    if (bytes[at] === 34 && bytes[at + 1] === 34) at += 1;
  }
  return out.subarray(0, length);
}

const tooWide = (name) => `${name} has more than ${MAX_COLUMNS} columns, and tables with so many cannot be queried`;

/** The columns of a table, `[{ name, type }]`: the names and the SQL types of all values. */
function columnsOf({ names, rows, cells, blanks }) {
  const INT = 1, REAL = 2, TEXT = 4;
  const kinds = names.map(() => 0);
  for (const row of rows) {
    for (const [at, value] of cells(row)) {
      if (value === null || value === undefined || value === '' && blanks) continue;
      const type = typeof value;
      kinds[at] |= type === 'string' || type === 'object' ? TEXT : type === 'number' && !Number.isInteger(value) ? REAL : INT;
    }
  }
  const types = { 0: 'TEXT', [INT]: 'INTEGER', [REAL]: 'REAL', [INT | REAL]: 'REAL', [TEXT]: 'TEXT' };
  return names.map((name, at) => ({ name, type: types[kinds[at]] ?? '' }));
}

/**
 * The table of a JSON file, an array of objects or an object on each line, and what had to be assumed: `{ table, notes }`. A table is
 * `{ names, rows, cells, blanks }`; `cells(row)` are its values with their columns, and with `blanks`, an empty text is no value.
 */
function objects(bytes, { path, format }) {
  const text = decoder.decode(bytes).replace(/^\ufeff/, '');
  const large = /[:[,\s]-?\d{16,}\s*[,\]}]/.test(text);
  const read = large && EXACT ? (part) => JSON.parse(part, exactly) : JSON.parse;
  const notes = large && !EXACT ? ['whole numbers with more than 15 digits are rounded here'] : [];
  const objects = format === 'jsonl' ? lines(text, read, path) : parsed(text, read, path);
  if (!Array.isArray(objects)) throw new Fault(`${path} is not a table: a table is an array of objects, and this is ${objects === null || typeof objects !== 'object' ? `a ${typeof objects}` : 'an object'}; use query_json`);
  const odd = objects.findIndex((one) => one === null || typeof one !== 'object');
  if (odd >= 0) throw new Fault(`${path} is not a table: item ${odd + 1} of its array is ${JSON.stringify(objects[odd], withDigits)?.slice(0, 40)}, not an object; use query_json`);
  if (!objects.length) throw new Fault(`${path} is an empty array`);
  if (objects.every(Array.isArray)) return { table: arrays(objects, path), notes };
  const places = new Map();
  for (const one of objects) {
    for (const key of Object.keys(one)) if (!places.has(key)) places.set(key, places.size);
    if (places.size > MAX_COLUMNS) throw new Fault(tooWide(path));
  }
  if (!places.size) throw new Fault(`${path}: its objects have no keys`);
  return { table: { names: columnNames([...places.keys()]), rows: objects, cells: (one) => Object.keys(one).map((key) => [places.get(key), one[key]]) }, notes };
}

/** A whole number that JavaScript would round becomes one of any size, or its digits where SQLite has none of that size. */
function exactly(_, value, { source }) {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
  const exact = BigInt(source);
  return BigInt.asIntN(64, exact) === exact ? exact : source;
}

/** Whether `JSON.parse` tells the digits of a number. */
const EXACT = JSON.parse('1', (_, value, context) => context?.source === '1');

/** Writes the large numbers of `exactly`. */
const withDigits = (_, value) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value);

function parsed(text, read, path) {
  try {
    return read(text);
  } catch (error) {
    const many = text.trimStart().startsWith('{') && text.includes('\n') ? lines(text, read) : undefined;
    if (many) return many;
    throw new Fault(`${path} is not JSON: ${error.message}`);
  }
}

/** The values on the lines of a text; `undefined` if they are none and no path is given. */
function lines(text, read, path) {
  const values = [];
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    if (!line.trim()) continue;
    try {
      values.push(read(line));
    } catch (error) {
      if (path === undefined) return undefined;
      throw new Fault(`${path} is not JSON on line ${number}: ${error.message}`);
    }
  }
  return values;
}

/** The table of rows whose first is the header, unless all of its cells are numbers or empty. */
function arrays(all, name) {
  const rows = all.filter((row) => row.some((cell) => cell !== null && cell !== undefined && cell !== ''));
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (width > MAX_COLUMNS) throw new Fault(tooWide(name));
  const first = rows[0] ?? [];
  const header = first.some((cell) => typeof cell === 'string' && cell !== '');
  const names = columnNames(Array.from({ length: width }, (_, at) => (header ? String(first[at] ?? '') : '')));
  return { names, rows: header ? rows.slice(1) : rows, cells: (row) => row.entries(), blanks: true };
}

/** Writes all rows of a result as a file. */
class Writer {
  constructor(format, columns, largest) {
    this.format = format;
    this.columns = columns;
    this.largest = largest;
    this.size = 0;
    this.parts = [];
    if (format === 'csv' || format === 'tsv') this.put(this.line(columns));
    else this.keys = columnNames(columns).map((name) => JSON.stringify(name)); // an object has each key once
  }

  put(text) {
    this.size += text.length;
    if (this.size > this.largest) throw new Fault(`the result is larger than ${this.largest >> 20} MB, so it was not saved; narrow the query`);
    this.parts.push(text);
  }

  line(cells) {
    const [separator, special] = this.format === 'tsv' ? ['\t', /[\t"\n\r]/] : [',', /[,"\n\r]/];
    const one = (cell) => {
      if (cell === null) return '';
      const text = String(cell);
      return special.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return `${cells.map(one).join(separator)}\n`;
  }

  row(cells) {
    if (!this.keys) return this.put(this.line(cells));
    const value = (cell) => (cell instanceof Numeral ? cell.digits : JSON.stringify(cell));
    const object = `{${cells.map((cell, at) => `${this.keys[at]}:${value(cell)}`).join(',')}}`;
    return this.put(this.format === 'jsonl' ? `${object}\n` : `${this.parts.length ? ',\n' : ''}${object}`);
  }

  text() {
    const all = this.parts.join('');
    return this.format === 'json' ? `[\n${all}\n]\n` : all;
  }
}

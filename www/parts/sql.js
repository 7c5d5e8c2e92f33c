// The part of the tools' worker that runs SQL: SQLite by sql.js, and the loading of tables. It is bundled into `sql.js`, and
// its module is `sql_bg.wasm`; www/worker-parts.js loads both on the first query.
//
// A query names its tables: SQLite says which one it misses, that one is loaded, and the query is prepared again. So only
// named tables are loaded. They stay for later queries, until their file changes. Everything is in memory, and a query runs
// with `query_only`, so it changes nothing, and nothing outside of the database can be reached.
import initSqlJs from 'sql.js/dist/sql-wasm-browser.js';
import { MAX_COLUMNS, delimited, unescaped } from './delimited.js';
import { dialectOf } from './dialect.js';
import { utf8 } from './decoding.js';
import { Columns, columnNames, distinct } from './columns.js';
import { Fault, arrays, columnsOf, objects, tooWide, withDigits } from './values.js';

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
    this.meaning = new Map(); // alias -> the name of the table
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

  /**
   * Answers one request of crates/tools/src/tabular/query_table.rs. `blobs` are the contents of its files. `sheets(bytes, name)` reads a
   * workbook, `decode(bytes)` gives the text of bytes that are not UTF-8 (decoding.js).
   */
  async query(request, blobs, sheets, decode) {
    const files = request.files.map((file, at) => ({ ...file, given: file.format, blob: blobs[at] }));
    this.decode = decode;
    try {
      // The others are told when they are named: there may be thousands.
      for (const file of files) if (file.given === 'workbook' || formats.get(file.blob)?.[file.given]) await told(file);
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
      && files.every(({ name, format, given, blob }, at) => name === this.files[at].name && (format !== 'workbook' && given !== 'text' || blob === this.files[at].blob));
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
    const single = (of) => (files.filter(of).length === 1 ? files.find(of) : undefined);
    const named = ({ name, path }) => name.toLowerCase() === wanted || path.toLowerCase() === wanted;
    const file = files.find((one) => named(one) && one.format !== 'workbook') ?? files.find(named) ?? single(({ path }) => last(path) === wanted)
      ?? single(({ path, given }) => given === 'text' && last(path).replace(/\.[^.]*$/, '') === wanted);
    if (file) await told(file);
    if (file && file.format !== 'workbook') {
      await this.load(file);
      this.alias(missing, file.name);
      return;
    }
    const books = files.filter(({ name, format }) => format === 'workbook' && wanted.startsWith(`${name.toLowerCase()}_`));
    for (const book of file ? [...books, file] : books) {
      const found = await this.book(book, files, sheets);
      const sheet = found.find(({ name }) => name.toLowerCase() === wanted) ?? (book === file && found.length === 1 ? found[0] : undefined);
      if (sheet) {
        if (sheet.fault) throw new Fault(`${book.path}: ${sheet.fault}`);
        await this.keepSheet(book, sheet);
        this.alias(missing, sheet.name);
        return;
      }
      if (book === file) throw Object.assign(new Fault(`${file.path} has ${found.length} sheets, and each is a table`), { tables: await this.head(file, files, sheets) });
    }
    throw Object.assign(new Fault(`there is no table ${missing}`), { tables: await this.list(request, files) });
  }

  alias(called, name) {
    if (called.toLowerCase() === name.toLowerCase()) return;
    this.run(`CREATE TEMP VIEW ${quoted(called)} AS SELECT * FROM ${quoted(name)}`);
    this.aliases.push(called);
    this.meaning.set(called, name);
  }

  async load(file) {
    if (file.fault) throw new Fault(`${file.path} is not a table: ${file.fault}`);
    if (this.loaded.has(file.name.toLowerCase())) return;
    const bytes = await contentOf(file);
    if (file.format === 'json' || file.format === 'jsonl') {
      const { table, notes } = await this.json(file, bytes);
      this.keep(file, file.name, table, notes);
    } else {
      await this.keepText(file, bytes);
    }
  }

  /** The sheets of a workbook with the names of their tables: `[{ name, rows, notes, texts, fault }]`. */
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

  /** The sheets of a workbook, which is converted once: `[{ name, rows, notes, texts, fault }]`. */
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

  /** Loads a sheet. The texts of a page are read as those of a delimited text: its numbers are written for people, too. */
  async keepSheet(book, { name, rows, notes: said = [], texts }) {
    if (this.loaded.has(name.toLowerCase())) return;
    if (texts) {
      await this.keepText({ ...book, name }, delimitedOf(rows), said);
      return;
    }
    const { table, notes } = arrays(rows, name);
    this.keep(book, name, table, [...said, ...notes]);
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
  async keepText(file, bytes, said = []) {
    const { text, dialect, columns: { columns, rows, notes }, seen } = await this.delimited(file, bytes, true);
    if (!rows && !columns.length) throw new Fault(`${file.path} is empty`);
    const { _malloc: malloc, _free: free, _sqlite3_bind_text: bind, _sqlite3_bind_double: double, _sqlite3_clear_bindings: clear } = this.sql;
    const base = malloc(text.length + 1);
    if (!base) throw new Fault(`${file.path} does not fit into memory`);
    this.heap().set(text, base);
    try {
      this.filled(file, file.name, columns, (insert) => {
        let skip = dialect.header;
        delimited(text, dialect, (record) => {
          if (skip) { skip = false; return; }
          if (seen.isSkipped(text, record)) return;
          const { count, starts, ends, quotes } = record;
          clear(insert);
          for (let at = 0; at < count && at < columns.length; at += 1) {
            const start = starts[at], length = ends[at] - start;
            const { type, read } = columns[at];
            if (length === 0 && !(quotes[at] && type === 'TEXT')) continue; // an empty cell is null
            if (read) {
              const value = read(decoder.decode(text.subarray(start, ends[at])));
              if (value === null) continue;
              if (value !== undefined) {
                double(insert, at + 1, value);
                continue;
              }
            }
            if (quotes[at] === 2) {
              const own = unescaped(text.subarray(start, ends[at]), dialect);
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
    this.note(file, file.name, columns, rows, [...said, ...notes]);
  }

  /** The table of a JSON file, and what had to be assumed: `{ table, notes }`. */
  async json(file, bytes) {
    const { bytes: text, note } = await utf8(bytes, false, this.decode);
    const { table, notes } = objects(decoder.decode(text), file);
    return { table, notes: note ? [note, ...notes] : notes };
  }

  /** A delimited text as UTF-8, its dialect and its columns. `whole`: whether these bytes are all of the file. */
  async delimited(file, bytes, whole) {
    const { bytes: text, note } = await utf8(bytes, !whole, this.decode);
    const head = text.subarray(0, HEAD);
    const dialect = dialectOf(head, whole && head.length === text.length, file.format === 'tsv');
    const seen = new Columns(dialect);
    const { loose, open } = delimited(text, dialect, (record) => seen.see(text, record), whole);
    const columns = seen.ended(dialect.separator);
    columns.notes = [
      note, ...dialect.notes,
      open > 0 && whole && `${open === 1 ? 'a quote is' : `${open} quotes are`} never closed and ${open === 1 ? 'was' : 'were'} read as text`,
      loose > 0 && `${loose === 1 ? 'a cell has quotes' : `${loose} cells have quotes`} inside that are not doubled, and ${loose === 1 ? 'is' : 'are'} read as written`,
      ...columns.notes,
    ].filter(Boolean);
    return { text, dialect, columns, seen };
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
  rows(statement, { sql, rows: most, chars, max_rows: limit, max_saved: largest, save }) {
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
    // Tables of earlier queries stay loaded. A name may also be in a text of the query; then a note is said once too often.
    const parts = sql.toLowerCase();
    const edge = (character) => character === undefined || !/[\p{L}\p{N}_]/u.test(character);
    const occurs = (name) => {
      for (let at = parts.indexOf(name); at >= 0; at = parts.indexOf(name, at + 1)) if (edge(parts[at - 1]) && edge(parts[at + name.length])) return true;
      return false;
    };
    const meant = ({ name, path }) => [name, path, ...this.aliases.filter((alias) => this.meaning.get(alias) === name)].some((one) => occurs(one.toLowerCase()));
    const notes = [...this.loaded.values()].filter(meant).flatMap(({ path, notes: own }) => own.map((note) => `${path}: ${note}`));
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
      if (file.given === 'text' && !this.loaded.has(file.name.toLowerCase())) continue;
      await told(file);
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
    if (file.fault) return [{ name, path, columns: [], note: `not a table: ${file.fault}` }];
    if (format === 'workbook') {
      if (!sheets && !this.books.has(blob)) return [{ name: `${name}_…`, path, columns: [], note: 'a workbook; SHOW TABLES lists its sheets' }];
      const found = await this.book(file, files, sheets);
      const tables = [];
      for (const { name: sheet, rows, notes: said = [], texts, fault } of found) {
        if (fault || !rows.length) {
          tables.push({ name: sheet, path, columns: [], note: fault ?? [...said, 'it has no values'].join('; ') });
          continue;
        }
        // One sheet that is no table does not hide the others.
        try {
          if (texts) {
            const { columns: { columns, rows: count, notes } } = await this.delimited(file, delimitedOf(rows), true);
            tables.push(described({ name: sheet, path, columns, rows: count, notes: [...said, ...notes] }));
          } else {
            const { table, notes } = arrays(rows, sheet);
            tables.push(described({ name: sheet, path, columns: columnsOf(table), rows: table.rows.length, notes: [...said, ...notes] }));
          }
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          tables.push({ name: sheet, path, columns: [], note: error.message });
        }
      }
      return tables;
    }
    if (format === 'json' && blob.size > HEAD_JSON) return [{ name, path, columns: [], note: 'its columns are known once it is queried' }];
    const bytes = await contentOf(file, format === 'json' ? blob : blob.slice(0, HEAD));
    const whole = blob.size <= HEAD || format === 'json';
    if (format === 'json' || format === 'jsonl') {
      const { table, notes } = await this.json(file, whole ? bytes : bytes.subarray(0, bytes.lastIndexOf(10)));
      return [described({ name, path, columns: columnsOf(table), rows: whole ? table.rows.length : undefined, notes })];
    }
    const { columns: { columns, rows, notes } } = await this.delimited(file, bytes, whole);
    if (!columns.length) return [{ name, path, columns: [], note: 'it is empty' }];
    return [described({ name, path, columns, rows: whole ? rows : undefined, notes })];
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

/** What a file is that is no table. */
const SIGNATURES = [['%PDF-', 'a PDF'], ['\x1f\x8b', 'compressed with gzip; the user can unpack it and add what is in it'], ['PAR1', 'a Parquet file'], ['SQLite format 3', 'a SQLite database'], ['\x89PNG', 'a picture'], ['\xff\xd8\xff', 'a picture'], ['GIF8', 'a picture'], ['{\\rtf', 'rich text']];
const formats = new WeakMap(); // blob -> { [given]: { format, fault } }

/** Sets the format of a file by its first bytes; its name decides between kinds of text only. */
async function told(file) {
  const { blob, given } = file;
  let known = formats.get(blob);
  if (!known) formats.set(blob, known = {});
  known[given] ??= await formatOf(given, blob);
  Object.assign(file, known[given]);
}

async function formatOf(given, blob) {
  let bytes;
  try {
    bytes = new Uint8Array(await blob.slice(0, 4_096).arrayBuffer());
  } catch {
    return { format: given }; // it is said when the file is read
  }
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  if (start.startsWith('PK\x03\x04') || start.startsWith('\xd0\xcf\x11\xe0')) return { format: 'workbook' };
  const kind = SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
  if (kind) return { format: 'csv', fault: `it is ${kind}` };
  const text = decoder.decode((await utf8(bytes, true)).bytes).trimStart();
  const plain = given === 'tsv' ? 'tsv' : 'csv';
  if (given === 'json' || given === 'jsonl') return { format: given };
  if (/^<(?:[!?]|html|head|body|table|meta|style|div|center|office:|workbook|ss:)/i.test(text)) return { format: 'workbook' };
  if (/^(?:\[\s*[[{]|\{\s*")/.test(text)) return { format: 'json' };
  if (given === 'workbook' && (!text || text.includes('\0'))) return { format: 'workbook' };
  return { format: plain };
}

/** Rows of texts as a delimited text. */
const delimitedOf = (rows) => encoder.encode(rows.map((row) => row.map((cell) => (cell === null ? '' : `"${String(cell).replaceAll('"', '""')}"`)).join(',')).join('\n'));

const described = ({ name, path, columns, rows, notes }) => ({
  name, path, rows, notes, more: Math.max(0, columns.length - NAMED_COLUMNS),
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

"""python reference.py: reads paths from standard input and prints, for each, a line of JSON: the text that the format's usual reader
finds in the file, or the error with which it refuses the file. ANTIWORD is the folder of Debian's package antiword, unpacked."""
import codecs
import json
import os
import re
import subprocess
import sys
import warnings

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def printed(command, **more):
    done = subprocess.run(command, capture_output=True, timeout=120, **more)
    text = done.stdout.decode(errors="replace")
    if done.returncode or not text.strip() and done.stderr.strip():
        raise ValueError(done.stderr.decode(errors="replace").strip() or f"{command[0]} ended with {done.returncode}")
    return text


def pdf(path):
    return printed(["pdftotext", "-q", path, "-"])


def doc(path):
    home = os.environ["ANTIWORD"]
    return printed([f"{home}/usr/bin/antiword", "-w", "0", "-m", "UTF-8.txt", path], env={"ANTIWORDHOME": f"{home}/usr/share/antiword"}).replace("[pic]", "")


def word_text(root):
    """The text of a part of a Word file, each paragraph in a line: without what was moved away, and without the copies for old programs."""
    lines = [[]]

    def walk(node):
        if node.tag in (FALLBACK, f"{WORD}moveFrom", f"{WORD}pPr", f"{WORD}rPr"):
            return
        if node.tag == f"{WORD}t":
            lines[-1].append(node.text or "")
        elif node.tag == f"{WORD}noBreakHyphen":
            lines[-1].append("-")
        elif node.tag in (f"{WORD}tab", f"{WORD}br", f"{WORD}cr", f"{WORD}txbxContent"):
            lines[-1].append(" ")
        for child in node:
            walk(child)
        if node.tag == f"{WORD}p":
            lines.append([])

    walk(root)
    return "\n".join("".join(line) for line in lines)


def docx(path):
    """The body, and the parts that it leads to: headers, footers, notes and comments."""
    import docx as reader
    from lxml import etree

    document = reader.Document(path)
    parts = [relation.target_part for relation in document.part.rels.values() if not relation.is_external
             and relation.reltype.rsplit("/", 1)[-1] in ("header", "footer", "footnotes", "endnotes", "comments")]
    return "\n".join([word_text(document.element.body), *(word_text(etree.fromstring(part.blob)) for part in parts)])


def pptx(path):
    import pptx as reader

    texts = []

    def shapes(of):
        for shape in of:
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            if getattr(shape, "has_table", False) and shape.has_table:
                texts.extend(cell.text for row in shape.table.rows for cell in row.cells)
            if hasattr(shape, "shapes"):
                shapes(shape.shapes)

    for slide in reader.Presentation(path).slides:
        shapes(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            texts.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(texts)


def shown(value):
    """A value as text: numbers without exponents, dates in the form of ISO 8601, a time of day without the day on which spreadsheets begin."""
    import datetime
    import decimal

    if isinstance(value, float):
        return f"{decimal.Decimal(f'{value:.15g}'):f}"
    if isinstance(value, datetime.datetime):
        if value.year < 1900:
            return value.time().isoformat()
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    return str(value).lower() if isinstance(value, bool) else str(value)


def xlsx(path):
    """The values and the comments of all cells, those of hidden sheets too."""
    import openpyxl
    from openpyxl.utils.escape import unescape

    book = openpyxl.load_workbook(path, data_only=True, read_only=False)
    cells = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    return "\n".join([unescape(shown(cell.value)) for cell in cells if cell.value is not None] + [cell.comment.text for cell in cells if cell.comment])


def xlsb(path):
    import pyxlsb

    with pyxlsb.open_workbook(path) as book:
        return "\n".join(shown(cell.v) for name in book.sheets for row in book.get_sheet(name).rows() for cell in row if cell.v is not None)


def xls(path):
    import xlrd

    book = xlrd.open_workbook(path, logfile=sys.stderr)
    texts = []
    for sheet in book.sheets():
        for row in range(sheet.nrows):
            for cell in sheet.row(row):
                if cell.ctype == xlrd.XL_CELL_DATE:
                    texts.append(shown(xlrd.xldate_as_datetime(cell.value, book.datemode)))
                elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
                    texts.append(shown(bool(cell.value)))
                elif cell.ctype in (xlrd.XL_CELL_TEXT, xlrd.XL_CELL_NUMBER):
                    texts.append(shown(cell.value))
    return "\n".join(texts)


def value_of(cell):
    from odf.namespaces import OFFICENS

    kind = cell.attributes.get((OFFICENS, "value-type"))
    if kind in ("float", "percentage", "currency"):
        return shown(float(cell.attributes[(OFFICENS, "value")]))
    return cell.attributes[(OFFICENS, f"{kind}-value")] if kind in ("date", "boolean") else None


def odf(path):
    """The paragraphs of the body and of the pages' headers and footers, without what was deleted while changes were tracked."""
    from odf import element, opendocument

    lines = [[]]

    def walk(node):
        name = getattr(node, "qname", ("", ""))[1]
        if isinstance(node, element.Text):
            lines[-1].append(node.data)
        # Deleted text, who wrote a comment and when, the number of a note, and the patterns of which an index was made.
        if name in ("tracked-changes", "creator", "date", "note-citation") or name.endswith("-source"):
            return
        if name in ("s", "tab", "line-break"):
            lines[-1].append(" ")
        # A cell has its value, since its text has the form of its language: `WAHR`, `01.01.23`.
        value = value_of(node) if name == "table-cell" else None
        if value is not None:
            lines.append([value])
            return
        if name in ("p", "h"):
            lines.append([])
        for child in node.childNodes:
            walk(child)
        if name in ("p", "h"):
            lines.append([])

    document = opendocument.load(path)
    walk(document.body)
    if document.getMediaType().endswith("text") or document.getMediaType().endswith("text-template"):
        walk(document.masterstyles)
    return "\n".join("".join(line) for line in lines)


def rtf(path):
    from striprtf.striprtf import rtf_to_text

    with open(path, "rb") as file:
        return rtf_to_text(file.read().decode("latin-1"), encoding="cp1252", errors="replace")


def epub(path):
    """The chapters in the order of the spine."""
    import ebooklib
    from ebooklib import epub as reader

    book = reader.read_epub(path, {"ignore_ncx": True})
    chapters = [book.get_item_with_id(entry[0]) for entry in book.spine]
    return "\n".join(markup(chapter.get_content()) for chapter in chapters if chapter is not None and chapter.get_type() == ebooklib.ITEM_DOCUMENT)


def markup(source):
    """The text that HTML shows."""
    from bs4 import BeautifulSoup

    tree = BeautifulSoup(source, "html.parser")
    for node in tree(["script", "style", "template", "title"]):
        node.decompose()
    # Words do not go on over the border of a block.
    for node in tree(re.compile("^(address|article|aside|blockquote|body|br|caption|center|d[dlt]|div|fieldset|figure|figcaption|footer|form|h[1-6]|header|hr|img|input|li|main|nav|ol|option|p|pre|section|select|table|tbody|td|tfoot|th|thead|tr|ul)$")):
        node.insert_before("\n")
        node.insert_after("\n")
    return tree.get_text()


def stated(path):
    """The encoding that a test's name or its folder states: `ar/iso-8859-6.txt`, `windows-1250-czech/x.xml`, `test_latin1.csv`."""
    for name in [os.path.splitext(os.path.basename(path))[0], *reversed(os.path.dirname(path).split("/")[-2:])]:
        parts = name.split("-")
        for part in ["-".join(parts[:end]) for end in range(len(parts), 0, -1)] + [re.split("[-_]", name)[-1]]:
            try:
                if codecs.lookup(part)._is_text_encoding:
                    return part
            except LookupError:
                pass
    return None


def text(path):
    """The characters of the file: in the encoding that its name states, or else as a detector of encodings reads it."""
    from charset_normalizer import from_bytes

    with open(path, "rb") as file:
        data = file.read()
    marks = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    marked = next((name for mark, name in marks.items() if data.startswith(mark)), None)
    for encoding in filter(None, [marked, "utf-8", stated(path)] if not marked else [marked]):
        try:
            decoded = data.decode(encoding)
            # UTF-8 proves itself, but not against an encoding of seven bits.
            if encoding != "utf-8" or not stated(path) or not data.isascii():
                return decoded
        except UnicodeDecodeError:
            pass
    if stated(path):
        return data.decode(stated(path))
    return str(from_bytes(data).best() or data.decode("latin-1"))


def html(path):
    """The source of an HTML file is shown as it is, so its references to characters stay as they are written."""
    return markup(text(path).replace("&", "&amp;"))


def lying_html(path):
    return markup(text(path))


def json_text(path):
    """The names, strings and numbers of JSON, as they are written: the source is shown as it is."""
    with open(path, "rb") as file:
        data = file.read()
    source = data.decode(json.detect_encoding(data)).lstrip("\ufeff")
    as_written = re.sub(r"\\(.)", lambda escape: escape[0] if escape[1] in "\"\\/" else "\\" + escape[0], source, flags=re.DOTALL)
    texts = []

    def walk(value):
        if isinstance(value, dict):
            for name, one in value.items():
                texts.append(name)
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)
        else:
            texts.append(value if isinstance(value, str) else json.dumps(value))

    pairs = {"parse_int": str, "parse_float": str, "parse_constant": str}
    try:
        walk(json.loads(as_written, **pairs))
    except json.JSONDecodeError:
        # Lines of JSON.
        for line in as_written.splitlines():
            if line.strip():
                walk(json.loads(line, **pairs))
    return "\n".join(texts)


def csv_cells(path):
    """The cells, with the separator that Python finds, or else the comma."""
    import csv

    csv.field_size_limit(1 << 30)
    source = text(path)
    try:
        dialect = csv.Sniffer().sniff(source[:10000], ",;\t|")
    except csv.Error:
        dialect = "excel"
    return [cell for row in csv.reader(source.splitlines(keepends=True), dialect) for cell in row]


def csv_text(path):
    return "\n".join(csv_cells(path))


def mail(path):
    """Subject, people and bodies, and the names of attached files. Of alternatives, the plain text is read."""
    import email
    from email import policy

    with open(path, "rb") as file:
        message = email.message_from_binary_file(file, policy=policy.default)
    texts = []

    def walk(part):
        texts.extend(str(part.get(name, "")) for name in ("subject", "from", "to"))
        body(part)

    def body(part):
        kind = part.get_content_type()
        if kind == "multipart/alternative":
            parts = list(part.iter_parts())
            plain = [one for one in parts if one.get_content_type() == "text/plain"]
            for one in plain[:1] or parts[-1:]:
                body(one)
        elif kind == "message/rfc822":
            for one in part.iter_parts():
                walk(one)
        elif part.is_multipart():
            for one in part.iter_parts():
                body(one)
        else:
            texts.append(part.get_filename() or "")
            if kind in ("text/plain", "text/html"):
                content = part.get_content()
                texts.append(markup(content) if kind == "text/html" else content)

    walk(message)
    return "\n".join(texts)


def archive(path):
    import zipfile

    with zipfile.ZipFile(path) as files:
        return "\n".join(files.namelist())


READERS = {"pdf": pdf, "doc": doc, "docx": docx, "pptx": pptx, "xlsx": xlsx, "xlsm": xlsx, "xlsb": xlsb, "xls": xls, "rtf": rtf, "epub": epub,
           **{end: odf for end in ("odt", "ods", "odp", "ott", "ots", "otp")}, **{end: text for end in ("txt", "srt", "xml")},
           "html": html, "htm": html, "json": json_text, "jsonl": json_text, "csv": csv_text, "tsv": csv_text, "eml": mail, "mht": mail, "zip": archive}
# `page.html.xls` is HTML.
LYING = {"html": lying_html, "csv": csv_text, "tsv": csv_text, "eml": mail}

warnings.simplefilter("ignore")
for line in sys.stdin:
    path = line.strip()
    _, *inner, end = os.path.basename(path).lower().split(".")
    read = LYING.get(inner[-1]) if inner and inner[-1] in LYING else READERS.get(end)
    try:
        answer = {"text": read(path)} if read else {"error": "no reference reader"}
        if read == csv_text:
            answer["cells"] = csv_cells(path)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(answer), flush=True)

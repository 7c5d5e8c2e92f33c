"""python reference.py: reads paths from standard input and prints, for each, a line of JSON: the text that the format's usual reader
finds in the file, or the error with which it refuses the file."""
import json
import subprocess
import sys


def pdf(path):
    done = subprocess.run(["pdftotext", "-q", path, "-"], capture_output=True, timeout=120)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip() or f"pdftotext ended with {done.returncode}")
    return done.stdout.decode(errors="replace")


def docx(path):
    import docx as reader

    document = reader.Document(path)
    texts = [node.text or "" for paragraph in document.element.body.iter("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p")
             for node in [type("Node", (), {"text": "".join(t.text or "" for t in paragraph.iter("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"))})]]
    return "\n".join(texts)


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
    return "\n".join(texts)


def shown(value):
    import datetime

    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
    return f"{value:.15g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def xlsx(path):
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True, read_only=False)
    return "\n".join(shown(cell) for sheet in book.worksheets for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None)


def xls(path):
    import xlrd

    book = xlrd.open_workbook(path)
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


def odf(path):
    from odf import opendocument, teletype, text

    document = opendocument.load(path)
    kinds = (text.P, text.H)
    return "\n".join(teletype.extractText(node) for kind in kinds for node in document.body.getElementsByType(kind))


READERS = {"pdf": pdf, "docx": docx, "pptx": pptx, "xlsx": xlsx, "xls": xls, **{end: odf for end in ("odt", "ods", "odp", "ott", "ots", "otp")}}

for line in sys.stdin:
    path = line.strip()
    read = READERS.get(path.rsplit(".", 1)[-1].lower())
    try:
        answer = {"text": read(path)} if read else {"error": "no reference reader"}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(answer), flush=True)

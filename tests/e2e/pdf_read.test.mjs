// What is read of PDFs, with the parts of the built worker, without a browser. Each case is a kind of file that other readers have reports about.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { annotated, at, page, pageOfGlyphs, stream } from './lib/pdf-pages.mjs';

const site = path.resolve(process.env.SITE ?? 'dist');
await import(pathToFileURL(path.join(site, 'turnwise/worker.js')).href); // outside of a worker thread it only defines its parts
const read = async (bytes) => {
  const { text, notes } = JSON.parse(await globalThis.turnwiseParts.pdf(new Uint8Array(bytes)));
  return { text: text.replace(/^\[page 1\]\n/, '').trim(), notes: notes.join('; ') };
};
const textOf = async (bytes) => (await read(bytes)).text;
const reads = async (bytes, expected) => assert.equal(await textOf(bytes), expected);

const box = (name, on, state, rect, more = '') => `/Subtype /Widget /FT /Btn ${name} /AS /${state} /Rect [${rect}] /AP << /N << /${on} 6 0 R /Off 6 0 R >> >> ${more}`;

test('fields of a form: states beside their labels, and all of them by name', async () => {
  const labels = [at(60, 740, 'Claim'), at(60, 700, 'Coffee?'), at(180, 700, 'Yes'), at(240, 700, 'No'), at(60, 670, 'Newsletter'), at(60, 640, 'Name')];
  const { text } = await read(annotated(labels, [
    box('/T (coffee_yes) /TU (Coffee: yes) /V /Off', 'Yes', 'Off', '205 698 215 708'), box('/T (coffee_no) /TU (Coffee: no) /V /On', 'On', 'On', '260 698 270 708'),
    box('/T (news)', '1', '1', '180 668 190 678'), '/Subtype /Widget /FT /Tx /T (name) /TU (Full name) /V (Ada Example) /Rect [180 638 330 652]',
    '/Subtype /Widget /FT /Tx /T (iban) /Rect [180 600 330 620]', '/Subtype /Widget /FT /Tx /T (pin) /Ff 8192 /V (4711) /Rect [180 580 330 590]',
    '/Subtype /Widget /FT /Ch /T (country) /Ff 131072 /Opt [[(no) (Norway)] [(fi) (Finland)]] /V (fi) /Rect [180 540 330 560]',
    '/Subtype /Widget /FT /Btn /Ff 65536 /T (send) /TU (Send it) /A << /S /ResetForm >> /Rect [60 500 90 520]', '/Subtype /Widget /FT /Sig /T (signed) APPEARANCE /Rect [60 460 200 480]',
    '/Subtype /Widget /Parent 18 0 R /AS /Off /Rect [210 438 220 448] /AP << /N << /Basic 6 0 R /Off 6 0 R >> >>', '/Subtype /Widget /Parent 18 0 R /AS /Full /Rect [265 438 275 448] /AP << /N << /Full 6 0 R /Off 6 0 R >> >>',
  ].concat([]), { shows: at(2, 4, 'Signed by Ada'), catalog: '/AcroForm << /Fields [8 0 R 9 0 R 10 0 R 11 0 R 12 0 R 13 0 R 14 0 R 15 0 R 16 0 R 19 0 R] >>', more: ['<< /FT /Btn /Ff 49152 /T (cover) /TU (Cover) /V /Full /Kids [17 0 R 18 0 R] >>'] })
    .toString('latin1').replaceAll('/Parent 18 0 R', '/Parent 19 0 R').split('').reduce((bytes, char) => (bytes.push(char.charCodeAt(0)), bytes), []));
  assert.match(text, /Coffee\?[ |]+Yes \[ \][ |]+No \[x\]/);
  assert.match(text, /Newsletter[ |]+\[x\]/);
  assert.match(text, /Name[ |]+Ada Example/);
  for (const line of ['Full name: Ada Example', 'Coffee: yes: not checked', 'Coffee: no: checked', 'news: checked', 'Cover: Full (choices: Basic, Full)', 'country: Finland (choices: Norway, Finland)',
    'empty fields: iban', 'buttons: Send it', 'signature field signed: Signed by Ada', 'pin: (a password, not shown)']) assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  assert.ok(!text.includes('4711'));
});

test('text of annotations: typed text at its place, notes, stamps, marks, links and files after their line', async () => {
  await reads(annotated([at(60, 740, 'Purchase request 17'), at(60, 700, 'Decision:'), at(60, 660, 'The price is 4,000 EUR.'), at(60, 620, 'See the terms.')], [
    '/Subtype /FreeText /Contents (Approved) /DA (/F1 11 Tf 0 g) /Rect [120 694 380 714] APPEARANCE', '/Subtype /Text /Contents (excludes freight) /T (Reviewer) /Rect [400 690 420 710]',
    '/Subtype /StrikeOut /Rect [60 655 110 672] /QuadPoints [60 672 110 672 60 656 110 656]', '/Subtype /Highlight /Contents (too much) /T (Ada) /Rect [121 655 175 672] /QuadPoints [121 672 175 672 121 656 175 656]',
    '/Subtype /Highlight /Rect [60 655 110 672] /QuadPoints [60 672 110 672 60 656 110 656]',
    '/Subtype /Link /Rect [80 615 140 632] /A << /S /URI /URI (https://example.com/terms) >>', '/Subtype /Stamp /Name /Draft /Rect [300 740 400 760] /AP << /N 7 0 R >>',
    '/Subtype /FileAttachment /FS << /Type /Filespec /F (offer.xlsx) /EF << /F 6 0 R >> >> /Rect [20 616 40 632]',
  ], { shows: at(2, 4, 'Approved: 4,200 EUR'), also: at(2, 4, 'DRAFT') }), [
    'Purchase request 17', '[stamp: DRAFT]', '', 'Decision:  Approved: 4,200 EUR', '[note by Reviewer: excludes freight]', '', 'The price is 4,000 EUR.',
    '[struck out "The price"]', '[highlight by Ada "4,000 EUR": too much]', '', 'See the terms.', '[attached file offer.xlsx, not read]', 'link "the terms.": https://example.com/terms',
  ].join('\n'));
});

test('typed text without a picture of it, in two places with the same start, and in a script that runs to the left', async () => {
  const utf16 = (text) => `<feff${[...text].map((char) => char.charCodeAt(0).toString(16).padStart(4, '0')).join('')}>`;
  await reads(annotated([at(60, 740, 'Top')], [`/Subtype /FreeText /Contents ${utf16('שלום עולם')} /DA (/F1 11 Tf 0 g) /Rect [60 694 380 714]`, '/Subtype /FreeText /Contents (x) /DA (/F1 11 Tf 0 g) /Rect [60 654 380 674] APPEARANCE',
    '/Subtype /FreeText /Contents (x) /DA (/F1 11 Tf 0 g) /Rect [60 614 380 634] /AP << /N 7 0 R >>'], { shows: at(2, 4, 'Hello one'), also: at(2, 4, 'Hello two') }), 'Top\n\nשלום עולם\n\nHello one\n\nHello two');
});

const TABLE = [['Month', 'Plant', 'Output'], ['May', 'Halden', '412 MWh'], ['June', 'Narvik', '598 MWh'], ['July', 'Narvik', '731 MWh']];
const AS_TABLE = '| Month | Plant | Output |\n| --- | --- | --- |\n| May | Halden | 412 MWh |\n| June | Narvik | 598 MWh |\n| July | Narvik | 731 MWh |';

test('turned pages keep their rows, and text in another direction stands apart', async () => {
  const turned = (matrix, place) => TABLE.flatMap((row, line) => row.map((text, column) => at(...place(60 + 150 * column, line), text, { matrix })));
  await reads(page(turned('0 1 -1 0', (x, line) => [112 + 20 * line, x]), { of: '/Rotate 90' }), AS_TABLE);
  await reads(page(turned('0 -1 1 0', (x, line) => [500 - 20 * line, 700 - x]), { of: '/Rotate 270' }), AS_TABLE);
  await reads(page(turned('-1 0 0 -1', (x, line) => [550 - x, 100 + 20 * line]), { of: '/Rotate 180' }), AS_TABLE);
  await reads(page([...turned('1 0 0 1', (x, line) => [x, 700 - 20 * line]).slice(0, 6), at(30, 500, 'Table 1', { matrix: '0 1 -1 0' }), ...turned('1 0 0 1', (x, line) => [x, 700 - 20 * line]).slice(6)]), `${AS_TABLE}\n\nTable 1`);
  // Scanned a little askew: the end of the line is half a line higher than its start.
  await reads(page(['The turbine', 'in Halden', 'failed in', 'March', 'again'].map((text, n) => at(60 + 90 * n, 700 + 90 * n * 0.03, text, { matrix: '0.99955 0.03 -0.03 0.99955' }))), 'The turbine  in Halden  failed in  March  again');
});

test('text that runs to the left is in the order in which it is read', async () => {
  const drawn = (text) => [...text].reverse();
  const chars = [...new Set('םןשלוםדוח על הסיכונים 412 (MWh) טורבינה אבגהזחטיכלמנסעפצקרשת.,-' + '٠١٢')];
  const line = (parts, y = 700) => [[60, y, parts.flatMap((part) => (typeof part === 'string' ? drawn(part) : [...part[0]]))]];
  await reads(pageOfGlyphs(chars, line(['דוח על הסיכונים'])), 'דוח על הסיכונים');
  await reads(pageOfGlyphs(chars, line([' טורבינה', ['412'], 'דוח '])), 'דוח 412 טורבינה');
  await reads(pageOfGlyphs(chars, line(['.', ['MWh'], ' ', ['412'], 'דוח '])), 'דוח 412 MWh.');
  // Each glyph for itself, the first one rightmost.
  await reads(pageOfGlyphs(chars, [...'דוח על'].flatMap((char, n) => (char === ' ' ? [] : [[300 - 6 * n, 700, [char]]]))), 'דוח על');
  // Each word for itself, from the right, with a number that runs to the right.
  await reads(pageOfGlyphs(chars, [[300, 700, drawn('דוח')], [276, 700, [...'412']], [222, 700, drawn('הסיכונים')]]), 'דוח 412 הסיכונים');
  // Arabic forms and ligatures, which their fonts may say as one character or several.
  const arabic = ['ﻦ', 'ﻴ', 'ﺑ', 'ر', 'ﻮ', 'ﺘ', 'ﻟ', 'ا', 'ﻼ', 'لا', 'ث'];
  await reads(pageOfGlyphs(arabic, [[60, 700, ['ﻦ', 'ﻴ', 'ﺑ', 'ر', 'ﻮ', 'ﺘ', 'ﻟ', 'ا']]]), 'التوربين');
  await reads(pageOfGlyphs(arabic, [[60, 700, ['ث', 'ﻼ', 'ث']], [60, 660, ['ث', 'لا', 'ث']]]), 'ثلاث\n\nثلاث');
  // Behind a scan, words are written as they are read.
  await reads(pageOfGlyphs(chars, [[300, 700, [...'שלום']], [273, 700, [...'עולם']], [240, 700, [...'לכולם']], [213, 700, [...'ואמן']]]), 'שלום עולם לכולם ואמן');
});

test('copies of a text are one text', async () => {
  const copies = (text, offsets) => offsets.map(([x, y]) => at(60 + x, 700 + y, text, { size: 14 }));
  for (const offsets of [[[0, 0], [0.4, 0]], [[0, 0], [0.4, 0], [0.8, 0]], [[0, 0], [0.4, 0.4], [-0.4, 0.4], [0, -0.4]], [[0, 0], [0, 0]], [[0, 0], [1, -1]]]) await reads(page(copies('Total due 1,250.00 EUR', offsets)), 'Total due 1,250.00 EUR');
  // Glyph by glyph, narrow ones too; and the text after the last copy goes on.
  const text = [...'Invoice till 4411'];
  for (const width of [222, 600]) await reads(pageOfGlyphs([...new Set(text)], text.flatMap((char, n) => [0, 0.4].map((x) => [60 + 0.012 * width * n + x, 700, [char]])), { width }), 'Invoice till 4411');
  await reads(page([at(60, 700, 'Total'), 'BT /F1 11 Tf 60.4 700 Td (Total) Tj ( and more) Tj ET']), 'Total and more');
  // A form that is drawn twice at one place, and then at another.
  const form = stream(at(0, 0, 'Seal'), '/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >>');
  await reads(page('q 1 0 0 1 60 700 cm /X Do Q q 1 0 0 1 60.3 700 cm /X Do Q q 1 0 0 1 60 600 cm /X Do Q', { resources: '/XObject << /X 6 0 R >>', more: [form] }), 'Seal\n\nSeal');
  // These are no copies.
  await reads(page([at(60, 700, 'bookkeeper 11 llama'), at(60, 686, 'bookkeeper 11 llama')]), 'bookkeeper 11 llama\nbookkeeper 11 llama');
  await reads(pageOfGlyphs(['a', 'b'], [[60, 700, ['a', 'a', 'a', 'b', 'b']]], { width: 200 }), 'aaabb');
});

test('words with spaces between their letters are words, lists of letters are not', async () => {
  await reads(page(at(60, 700, 'S A F E T Y  D A T A  S H E E T')), 'SAFETY DATA SHEET');
  await reads(page([at(60, 700, 'SAFETY DATA SHEET', { more: '3 Tc' }), at(60, 660, 'SAFETY DATA SHEET', { more: '6 Tc' }), at(60, 620, 'Warning label', { more: '14 Tc' })]), 'SAFETY DATA SHEET\n\nSAFETY DATA SHEET\n\nWarning label');
  for (const list of ['A B C D E F', 'Options: a b c d', 'J F M A M J J A S O N D', 'A C B D A B C', 'x = a + b - c', 'M T W T F S S']) await reads(page(at(60, 700, list)), list);
});

test('columns of text are read one after the other, and a table stays a table', async () => {
  const side = (left, right, step = 14) => left.flatMap((text, n) => [text && at(60, 700 - step * n, text), right[n] && at(330, 700 - step * n, right[n])].filter(Boolean));
  await reads(page(side(['The turbine hall was', 'opened in 1962 and', 'rebuilt in 2004 after', 'the flood of March.'], ['Visitors need a badge.', 'Children under ten are', 'not admitted to the', 'control room.'])),
    'The turbine hall was\nopened in 1962 and\nrebuilt in 2004 after\nthe flood of March.\n\nVisitors need a badge.\nChildren under ten are\nnot admitted to the\ncontrol room.');
  // One column is longer, a word is divided, and a line over both columns ends them.
  await reads(page([...side(['The committee met and', 'reviewed the annual re-', 'port on all of the', 'machines in the hall', 'before it was signed.'], ['It approved the budget', 'for the coming year', 'without any change.']), at(60, 620, 'This line is wide and goes over the whole page, from the left to the right.')]),
    'The committee met and\nreviewed the annual report\non all of the\nmachines in the hall\nbefore it was signed.\n\nIt approved the budget\nfor the coming year\nwithout any change.\n\nThis line is wide and goes over the whole page, from the left to the right.');
  // The gap between the columns is narrow where the lines are long.
  await reads(page(['The turbine hall was first', 'opened in 1962 and', 'rebuilt in 2004 well after', 'the flood of March.'].flatMap((text, n) => [at(60, 700 - 14 * n, text), at(193, 700 - 14 * n, ['Visitors need a badge.', 'Children under ten are', 'not admitted to the', 'control room.'][n])])),
    'The turbine hall was first\nopened in 1962 and\nrebuilt in 2004 well after\nthe flood of March.\n\nVisitors need a badge.\nChildren under ten are\nnot admitted to the\ncontrol room.');
  // The lines of the columns are not at the same height, and a third column begins below.
  const left = ['The hall is open on', 'every day of the week', 'and closed in winter.'], right = ['Dogs must wait outside', 'and cats are not seen', 'at all in the building.'];
  await reads(page(left.flatMap((text, n) => [at(60, 700 - 14 * n, text), at(230, 696 - 14 * n, right[n]), n > 0 ? at(400, 700 - 14 * n, ['', 'This text is at the side', 'and goes on here.'][n]) : ''])),
    [left, right, ['This text is at the side', 'and goes on here.']].map((lines) => lines.join('\n')).join('\n\n'));
  await reads(page(side(['axis of the x values', 'axis of the y values', 'axis of the z values'], ['dummy variable x', 'dummy variable y', 'dummy variable z'])), '| axis of the x values | dummy variable x |\n| --- | --- |\n| axis of the y values | dummy variable y |\n| axis of the z values | dummy variable z |');
  await reads(page(side(['Halden', 'Narvik', 'Bergen harbour'], ['opened in 1962', 'rebuilt in 2004', 'closed for good'])), '| Halden | opened in 1962 |\n| --- | --- |\n| Narvik | rebuilt in 2004 |\n| Bergen harbour | closed for good |');
  await reads(page(side(['Total output of the plant', 'Losses in the grid', 'Staff of all plants'], ['412 MWh', '31 MWh', '77'])), '| Total output of the plant | 412 MWh |\n| --- | --- |\n| Losses in the grid | 31 MWh |\n| Staff of all plants | 77 |');
});

test('small signs: superscripts, soft hyphens, ligatures, vertical lines', async () => {
  await reads(page(['BT /F1 12 Tf 60 700 Td (10) Tj 5 Ts /F1 7 Tf (-3) Tj 0 Ts /F1 12 Tf ( m, H) Tj -2 Ts /F1 7 Tf (2) Tj 0 Ts /F1 12 Tf (O, a note) Tj 5 Ts /F1 7 Tf (1) Tj ET']), '10⁻³ m, H2O, a note¹');
  await reads(pageOfGlyphs([...'WaserkochintlKO\u00ad '], [[60, 700, [...'Wasser\u00ad']], [60, 686, [...'kocher in Ost\u00adKiel']]]), 'Wasserkocher\nin Ost-Kiel');
  await reads(pageOfGlyphs(['o', 'ﬃ', 'c', 'e', 'µ', 'ﬁ', 'n'], [[60, 700, ['o', 'ﬃ', 'c', 'e']], [60, 660, ['ﬁ', 'n', 'e', 'µ']]]), 'office\n\nfineµ');
  const column = (text, x) => [...text].map((char, n) => [x, 700 - 14 * n, [char]]);
  const kana = [...new Set('いつもおせわになっております。')];
  await reads(pageOfGlyphs(kana, [...column('いつもおせわに', 300), ...column('なっております。', 282)], { width: 1000 }), 'いつもおせわに\nなっております。');
  await reads(pageOfGlyphs(kana, [[300, 700, [...'いつもおせわに']], [282, 700, [...'なっております。']]], { width: 1000, vertical: true }), 'いつもおせわに\nなっております。');
});

test('what is not read, or may be wrong, is said', async () => {
  const said = async (bytes, note, text = /Turbine/) => {
    const { notes, text: found } = await read(bytes);
    assert.match(notes, note);
    assert.match(found, text);
  };
  const turbine = at(60, 700, 'Turbine');
  await said(page([turbine, at(60, 100, 'slug')], { of: '/CropBox [0 200 612 792]' }), /^pages with text outside of their visible part, which was not read: 1$/);
  const codes = Array.from({ length: 90 }, (_, n) => String.fromCharCode(0x4e00 + n)); // as numbers of glyphs, these are signs of ASCII
  await said(pageOfGlyphs(codes, [[60, 700, codes.slice(40)]], { mapped: false }), /^pages whose text is wrong or unreadable, since their fonts do not say which characters they draw: 1$/, /[A-Z]/);
  await assert.rejects(read(pageOfGlyphs(codes, [[60, 700, codes.slice(0, 9)]], { mapped: false })), /holds no text that can be read: its fonts do not say which characters they draw/);
  await said(pageOfGlyphs([...'Turbinx'].map((_, n) => String.fromCharCode(0xe000 + n)), [[60, 700, [...'Turbinx'].map((_, n) => String.fromCharCode(0xe000 + n))], [60, 660, [...'Turbinx'].map((_, n) => String.fromCharCode(0xe000 + n))]]), /wrong or unreadable/, /./);
  const attached = '/Names << /EmbeddedFiles << /Names [(offer.xlsx) << /Type /Filespec /F (offer.xlsx) /EF << /F 6 0 R >> >>] >> >>';
  await said(page(turbine, { catalog: attached, more: [stream('x')] }), /^files attached to it, which are not read: offer\.xlsx$/);
  await said(page(turbine, { catalog: `${attached} /Collection << /View /T >>`, more: [stream('x')] }), /^files of this portfolio, which are not read: offer\.xlsx$/);
  await said(page(turbine, { catalog: '/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >>', more: ['<< /Type /OCG /Name (Draft) >>'] }), /^layers that a viewer does not show, and whose text is among the rest: "Draft"$/);
  await said(page(turbine), /^$/);
  await assert.rejects(read(page('0 0 9 9 re f', { catalog: attached, more: [stream('x')] })), /holds no text.*files attached to it, which are not read: offer\.xlsx/);
});

test('a form in XFA only is read instead of the page that says to wait', async () => {
  const xdp = `<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form" layout="tb"><pageSet><pageArea><contentArea w="200mm" h="250mm"/><medium short="210mm" long="297mm"/></pageArea></pageSet>
    <subform layout="tb" w="180mm"><draw w="100mm" h="10mm"><value><text>Claim for a turbine</text></value></draw><field name="owner" w="100mm" h="10mm"><caption><value><text>Owner</text></value></caption><ui><textEdit/></ui><value><text>Ada Example</text></value></field>
    <field name="urgent" w="50mm" h="10mm"><caption><value><text>Urgent</text></value></caption><ui><checkButton/></ui><items><integer>1</integer><integer>0</integer></items><value><integer>1</integer></value></field></subform></subform></template></xdp:xdp>`;
  const { text, notes } = await read(page(at(60, 700, 'Please wait...'), { catalog: '/NeedsRendering true /AcroForm << /XFA 6 0 R /Fields [] /DR << /Font << /F1 3 0 R >> >> >>', more: [stream(xdp)] }));
  assert.match(text, /Claim for a turbine/);
  assert.match(text, /Owner[^]*Ada Example/);
  assert.match(text, /Urgent/);
  assert.match(text, /\[x\]/);
  assert.doesNotMatch(text, /Please wait/);
  assert.equal(notes, '');
  const without = await read(page(at(60, 700, 'Please wait...'), { catalog: '/NeedsRendering true /AcroForm << /XFA 6 0 R /Fields [] >>', more: [stream('<xdp:xdp')] }));
  assert.equal(without.text, 'Please wait...');
  assert.match(without.notes, /^its form is in XFA, which could not be read/);
});

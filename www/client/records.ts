// Functions that need no agent: they read, write and summarize records, render Markdown, and list a provider's models.
import { json, meant, recordText, takes, wrong } from './check';
import { host, link } from './engine';
import { provider, renderOptions } from './options';
import { DOCUMENT_FORMAT, DOCUMENT_VERSION, FORMATS } from './protocol';
import type { Code, DocumentTask, ExportFormat } from './protocol';

const ask = (task: DocumentTask, name: string, text: string) => link.ask<'document', any>('document', { task, name }, [text]);

/** A program of a record (crates/record/src/trajectory/programs.rs). */
interface Recorded extends Code {
  turn: number | null;
  path: string;
  calls: [name: string, args: string][];
  answers: [asked: number, failed: boolean, content: string][];
  ok: boolean;
  output: string;
}

export async function replay(trajectory: object) {
  const result = await ask('replay', 'trajectory', recordText('a trajectory')(trajectory, 'trajectory'));
  if (!result.ok) return result;
  for (const program of result.programs as Recorded[]) {
    const { turn, path, ok, output } = program;
    const again = await host.again(program, program.calls, program.answers);
    if (again.ok !== ok || again.output !== output) return { ok: false, turn, path, expected: output, actual: again.output, recorded_by: null };
  }
  return { ok: true };
}

export async function exportTrajectory(trajectory: object, format: ExportFormat): Promise<string> {
  if (!FORMATS.includes(format)) throw wrong('format', format, FORMATS.map((one) => `'${one}'`).join(', '), meant(format, FORMATS, '\''));
  const words = `a trajectory of version ${DOCUMENT_VERSION}`;
  recordText(words)(trajectory, 'trajectory');
  const { format: kind, version } = trajectory as { format?: unknown; version?: unknown };
  if (kind !== DOCUMENT_FORMAT || version !== DOCUMENT_VERSION) throw wrong('trajectory', trajectory, words);
  // Only serialized: no worker is needed.
  if (format === 'native') return JSON.stringify(trajectory, undefined, 2);
  return ask({ export: format }, 'trajectory', JSON.stringify(trajectory));
}

export async function importTrajectory(text: string) {
  const check = takes<string>('the text of a trajectory, of an HTML report, or of an ATIF file', (value) => typeof value === 'string');
  return ask('import', 'text', check(text, 'text'));
}

export async function summarize(trajectory: object | string) {
  const text = typeof trajectory === 'string' ? trajectory : recordText('a trajectory, or the text of one')(trajectory, 'trajectory');
  return ask('summarize', 'trajectory', text);
}

export async function insight(summaries: object[], filter?: object) {
  if (!Array.isArray(summaries)) throw wrong('summaries', summaries, 'an array of summaries');
  const wanted = filter === undefined ? '{}' : recordText('an object')(filter, 'filter');
  return ask('insight', 'insight', `{"summaries":${json(summaries) ?? '[]'},"filter":${wanted}}`);
}

export async function renderMarkdown(text: string, options?: object): Promise<any> {
  const markdown = takes<string>('a string', (value) => typeof value === 'string')(text, 'text');
  return link.ask('render', { markdown, ...renderOptions(options) });
}

export async function listModels(given: object): Promise<any> {
  const { config, access } = provider(given, 'provider');
  return link.ask('models', { provider: { config, access } });
}

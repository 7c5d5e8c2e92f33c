// YAML, with the `yaml` package. A file of its own, which is loaded by the first text that needs it.
import { parseDocument } from 'yaml';

/** Reads YAML 1.2. Of a repeated key the last value counts; throws at any other error. */
export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { merge: true, uniqueKeys: false, logLevel: 'silent' });
  if (document.errors.length) throw new Error(document.errors[0]!.message);
  return document.toJS({ maxAliasCount: 1_000 }) as unknown;
}

// The closed sets of the Rust sources, by name. Made of their rows: UPDATE=1 cargo test --test native types::
import type { ExportFormat, ProviderKind } from './types/records';

export const PROVIDER_KINDS = [
  'demo', 'openai', 'openai-responses', 'anthropic', 'gemini', 'openrouter', 'ollama', 'lmstudio', 'llamacpp',
  'prompt-api', 'custom',
] as const satisfies readonly ProviderKind[];
export const FORMATS = [
  'native', 'html', 'markdown', 'atif', 'otlp', 'openai-jsonl', 'mini-swe-agent',
] as const satisfies readonly ExportFormat[];
/** The built-in tools of the safe set. */
export const SAFE_TOOLS = [
  'search_files', 'read_file', 'list_files', 'write_file', 'edit_file', 'diff_files', 'query_table',
  'query_json', 'read_result', 'calculate', 'now',
] as const;
/** Those, and the ones that are offered on request only. */
export const BUILT_IN_TOOLS = [
  'search_files', 'read_file', 'list_files', 'write_file', 'edit_file', 'diff_files', 'query_table',
  'query_json', 'read_result', 'calculate', 'now', 'progress_report', 'batch', 'spawn_subagents', 'run_code',
  'fetch_url', 'search_web',
] as const;

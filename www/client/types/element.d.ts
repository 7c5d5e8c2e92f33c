// The tag <turnwise-agent>: `import 'turnwise/element'` defines it in a page and does nothing on a server.
// For JSX and templates, turnwise/react, turnwise/vue, turnwise/svelte and turnwise/solid declare it too.
import type { Provider, Tool } from './turnwise.js';

/**
 * The result of one of the tag's runs, in its events and from `ask`.
 *
 * @example
 * const { output, sources } = await document.querySelector('turnwise-agent').ask('How do I install it?');
 */
export interface TurnwiseAgentAnswer {
  task: string;
  output: string;
  outcome: 'success' | 'partial' | 'failed' | 'cancelled';
  reason: string;
  /** The pages that the answer links to, otherwise those that the run read. */
  sources: { href: string; text: string }[];
  /** Addresses of the site in the answer that the conversation neither found nor read. Only after a run that did not fail. */
  unchecked?: string[];
  /** False if it counts as not answered: see `TurnwiseAgentReport`. Only after a run that did not fail. */
  answered?: boolean;
  /** The words that the last search found nowhere on the site. Only after a run that did not fail. */
  missing?: string[];
}

/**
 * A question that was not answered, as `questions` receives it.
 *
 * @example
 * element.addEventListener('turnwise-unanswered', ({ detail }) => console.log(detail.question, detail.why));
 */
export interface TurnwiseAgentReport {
  /** At most 500 characters. */
  question: string;
  /** `not_found`: no search matched well; `limit`: the run ended at a limit; `bad_answer`: the visitor said so. */
  why: 'not_found' | 'limit' | 'bad_answer';
  /** The words that the last search found nowhere on the site. */
  missing: string[];
  /** What the visitor wrote about a bad answer, at most 1,000 characters. */
  comment?: string;
  /** The path of the page where it was asked. */
  page: string;
  /** The language of the panel. */
  lang: string;
}

/**
 * Attributes of the tag, all optional.
 *
 * @example
 * <turnwise-agent provider="openai" base-url="/v1" model="gpt-5.4-mini"></turnwise-agent>
 */
export interface TurnwiseAgentAttributes {
  provider?: Provider['kind'];
  'base-url'?: string;
  model?: string;
  preset?: 'research' | 'orchestrator' | 'strict';
  docs?: string;
  'docs-credentials'?: 'omit' | 'include';
  'docs-live-page'?: 'omit' | 'include';
  'max-turns'?: number | string;
  mode?: 'floating' | 'modal' | 'inline' | 'iframe';
  position?: 'bottom-end' | 'bottom-start' | 'top-end' | 'top-start';
  theme?: 'auto' | 'light' | 'dark';
  shortcut?: string;
  label?: string;
  heading?: string;
  greeting?: string;
  suggestions?: string;
  placeholder?: string;
  src?: string;
  app?: string;
  site?: string;
  /** `none`: no button. */
  launcher?: 'none';
  trigger?: string;
  'contact-url'?: string;
  /** Receives a `TurnwiseAgentReport` by POST for each question that was not answered. */
  questions?: string;
  /** `off`: no related questions below an answer. */
  'follow-ups'?: 'off';
}

/**
 * The element. Its properties have the names of the attributes, in camel case.
 *
 * @example
 * const element = document.querySelector('turnwise-agent');
 * element.tools = [{ name: 'cart', execute: () => cart }];
 * await element.open();
 */
export interface TurnwiseAgentElement extends HTMLElement {
  provider: string;
  baseUrl: string;
  model: string;
  preset: string;
  docs: string;
  docsCredentials: string;
  docsLivePage: string;
  maxTurns: string;
  mode: string;
  position: string;
  theme: string;
  shortcut: string;
  label: string;
  heading: string;
  greeting: string;
  suggestions: string | string[];
  placeholder: string;
  src: string;
  app: string;
  site: string;
  launcher: string;
  trigger: string;
  contactUrl: string;
  questions: string;
  followUps: string;
  /** The provider's key, kept in memory only. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** Additional instructions for the model. */
  system?: string;
  /** A model supplied by the page. */
  complete?: (request: any, options: { signal: AbortSignal }) => unknown;
  /** Tools supplied by the page. Calls with side effects ask the visitor first. */
  tools?: Tool[];
  texts?: Record<string, string>;
  open(): Promise<void>;
  close(): void;
  toggle(): void;
  /** Opens the panel and asks a question. */
  ask(text: string): Promise<TurnwiseAgentAnswer>;
}

/**
 * The events of the tag. They bubble.
 *
 * @example
 * element.addEventListener('turnwise-final', ({ detail }) => console.log(detail.output));
 */
export interface TurnwiseAgentEventMap {
  'turnwise-open': CustomEvent;
  'turnwise-close': CustomEvent;
  'turnwise-run': CustomEvent<{ task: string }>;
  'turnwise-final': CustomEvent<TurnwiseAgentAnswer>;
  'turnwise-error': CustomEvent<{ message: string; directive?: string; add?: string } & Partial<TurnwiseAgentAnswer>>;
  /** A visitor wants a person. `preventDefault()` keeps the panel from opening `url`. */
  'turnwise-contact': CustomEvent<{ url: string; conversation: string }>;
  'turnwise-feedback': CustomEvent<{ good: boolean; task: string; output: string; sources: TurnwiseAgentAnswer['sources']; comment?: string }>;
  'turnwise-unanswered': CustomEvent<TurnwiseAgentReport>;
}

declare global {
  interface HTMLElementTagNameMap {
    'turnwise-agent': TurnwiseAgentElement;
  }
  interface HTMLElementEventMap extends TurnwiseAgentEventMap {}
}

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
  /** A kind of model service, or `demo`, a scripted model for trying it out. Default: the visitor chooses. */
  provider?: Provider['kind'];
  /** The address of the model; a relative one is resolved against the page. Default: the provider's own. */
  'base-url'?: string;
  /** The name of the model. Default: the provider's. */
  model?: string;
  /** One of the presets of the engine. Default: `research`. */
  preset?: 'research' | 'orchestrator' | 'strict';
  /** `auto` finds what the site ships; an address of an `llms.txt`, a search index or a sitemap; `off`: no docs. Default: `auto`. */
  docs?: string;
  /** `include` reads the docs with the visitor's cookies, for a site behind a login; nothing that was read is kept then. Default: `omit`. */
  'docs-credentials'?: 'omit' | 'include';
  /** `include` reads the page as the browser shows it, where the site's pages have no text without their scripts. Default: `omit`. */
  'docs-live-page'?: 'omit' | 'include';
  /** Maximum number of turns per answer. Default: 8. */
  'max-turns'?: number | string;
  /** A card above the page, a dialog, a part of the page at the tag, or a card whose content is a separate document. Default: `floating`. */
  mode?: 'floating' | 'modal' | 'inline' | 'iframe';
  /** The corner of the button and the card. Default: `bottom-end`. */
  position?: 'bottom-end' | 'bottom-start' | 'top-end' | 'top-start';
  /** `auto` follows the page. Default: `auto`. */
  theme?: 'auto' | 'light' | 'dark';
  /** Keys that open and close the panel; `mod` is Ctrl, or Cmd on a Mac; `none`: no shortcut. Default: `mod+i`. */
  shortcut?: string;
  /** The text of the button. Default: Ask the docs. */
  label?: string;
  /** The title of the panel. Default: the label. */
  heading?: string;
  /** The first line of the empty panel. Default: What would you like to know? */
  greeting?: string;
  /** Questions to click: `one|two|three`, or a JSON array. Default: none. */
  suggestions?: string;
  /** The text in the empty field. Default: Ask a question. */
  placeholder?: string;
  /** The folder of the package, with `/` at the end; on the page's own origin or that of `embed.js`. Default: the folder of `embed.js`. */
  src?: string;
  /** The `http` or `https` address of a Turnwise app, for "Open in the app". Default: none. */
  app?: string;
  /** A name for this site: each site has separate conversations. Default: the folder above the package, or that of the address in `docs`. */
  site?: string;
  /** `none`: no button. */
  launcher?: 'none';
  /** A CSS selector: a click on such an element opens the panel, and Enter in such a field asks what is in it. Default: none. */
  trigger?: string;
  /** Where a visitor finds a person: an `https` or `mailto` address. Default: none. */
  'contact-url'?: string;
  /** Receives a `TurnwiseAgentReport` by POST for each question that was not answered. */
  questions?: string;
  /** `off`: no related questions below an answer. */
  'follow-ups'?: 'off';
  /** Addresses of skills that the assistant can use, separated by spaces. Default: none. */
  skills?: string;
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
  skills: string;
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
 * The events of the tag.
 *
 * @example
 * element.addEventListener('turnwise-final', ({ detail }) => console.log(detail.output));
 */
export interface TurnwiseAgentEventMap {
  'turnwise-open': CustomEvent;
  'turnwise-close': CustomEvent;
  'turnwise-run': CustomEvent<{ task: string }>;
  'turnwise-final': CustomEvent<TurnwiseAgentAnswer>;
  /**
   * Something failed; the panel shows visitors a short text in their language. `message`: what happened, for the site's owner. If a run
   * failed: `slugs`, most specific first, and the HTTP `status` of the model's server, if there was one. If a policy blocks something: the
   * `directive` that lacks it, and `add`, the directive with what to add.
   * @example document.addEventListener('turnwise-error', ({ detail }) => console.warn(detail.message, detail.slugs, detail.status));
   */
  'turnwise-error': CustomEvent<{ message: string; slugs?: string[]; status?: number; directive?: string; add?: string } & Partial<TurnwiseAgentAnswer>>;
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

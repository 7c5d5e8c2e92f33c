// The page's Trusted Types policy: one, called `turnwise`, so that a page can list it. It passes a text only while one of the functions
// here makes it, and those are given what the package itself wrote: the addresses of its workers, and the sandbox's document.

interface Policy {
  createScriptURL(url: string): unknown;
  createHTML(html: string): unknown;
}

let policy: Policy | undefined;
let making: string | undefined;

function pass(text: string): string {
  if (text !== making) throw new TypeError('not a text of turnwise');
  return text;
}

/** Throws where the page's policy does not list `turnwise`. */
function make(kind: keyof Policy, text: string): string {
  const types = (globalThis as any).trustedTypes;
  if (!types) return text;
  policy ??= types.createPolicy('turnwise', { createScriptURL: pass, createHTML: pass }) as Policy;
  making = text;
  try {
    return policy[kind](text) as string;
  } finally {
    making = undefined;
  }
}

/** The address of a worker's script, as the page's policy asks for it. */
export const trustedUrl = (url: string) => make('createScriptURL', url);
/** A document, as the page's policy asks for it. */
export const trustedHtml = (html: string) => make('createHTML', html);

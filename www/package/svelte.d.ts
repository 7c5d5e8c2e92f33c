// `import 'turnwise/svelte'` in one file of a Svelte project declares the tag <turnwise-agent> for templates.
import type { TurnwiseAgentAttributes } from './element.js';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'turnwise-agent': TurnwiseAgentAttributes & HTMLAttributes<HTMLElement>;
  }
}

// The store, the action, and the tag <turnwise-agent> in templates: `import 'turnwise/svelte'` in one file declares it.
import type { HTMLAttributes } from 'svelte/elements';
import type { TurnwiseAgentAttributes } from './element.js';

export * from './types/svelte.js';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'turnwise-agent': TurnwiseAgentAttributes & HTMLAttributes<HTMLElement>;
  }
}

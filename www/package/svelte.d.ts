// `import 'turnwise/svelte'`, in one file of a Svelte project: templates know the tag <turnwise-agent>.
import type { TurnwiseAgentAttributes } from './element.js';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'turnwise-agent': TurnwiseAgentAttributes & HTMLAttributes<HTMLElement>;
  }
}

// `import 'turnwise/vue'` in one file of a Vue project declares the tag <turnwise-agent> for templates.
import type { TurnwiseAgentAttributes } from './element.js';

declare module 'vue' {
  interface GlobalComponents {
    'turnwise-agent': new () => { $props: TurnwiseAgentAttributes };
  }
}

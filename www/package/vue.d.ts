// The composable, the directive, and the tag <turnwise-agent> in templates: `import 'turnwise/vue'` in one file declares it.
import type { TurnwiseAgentAttributes } from './element.js';

export * from './types/vue.js';

declare module 'vue' {
  interface GlobalComponents {
    'turnwise-agent': new () => { $props: TurnwiseAgentAttributes };
  }
}

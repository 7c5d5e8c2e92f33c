// `import 'turnwise/vue'`, in one file of a Vue project: templates know the tag <turnwise-agent>.
import type { TurnwiseAgentAttributes } from './element.js';

declare module 'vue' {
  interface GlobalComponents {
    'turnwise-agent': new () => { $props: TurnwiseAgentAttributes };
  }
}

// `import 'turnwise/solid'`, in one file of a Solid project: JSX knows the tag <turnwise-agent>.
import type { TurnwiseAgentAttributes } from './element.js';

declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'turnwise-agent': TurnwiseAgentAttributes & HTMLAttributes<HTMLElement>;
    }
  }
}

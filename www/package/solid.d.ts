// `import 'turnwise/solid'` in one file of a Solid project declares the tag <turnwise-agent> for JSX.
import type { TurnwiseAgentAttributes } from './element.js';

declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'turnwise-agent': TurnwiseAgentAttributes & HTMLAttributes<HTMLElement>;
    }
  }
}

// The hook, and the tag <turnwise-agent> in JSX.
import type { TurnwiseAgentAttributes } from './element.js';

export * from './types/react.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'turnwise-agent': TurnwiseAgentAttributes & HTMLAttributes<HTMLElement> & { ref?: Ref<any> };
    }
  }
}

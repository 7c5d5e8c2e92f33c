// `import 'turnwise/element'`: the tag for bundlers. The same launcher as embed.js; the panel is a chunk of the bundle, loaded
// when the button is hovered over. `mode="iframe"` still needs a served copy of the package: see `src`.
import { loadBy } from './embed.js';

loadBy({ widget: () => import('./widget.js'), turnwise: () => import('./turnwise.js') });

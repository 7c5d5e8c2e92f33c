// `import 'turnwise/element'`: the tag for those who bundle. The same launcher as embed.js; the panel is a chunk of the bundle,
// loaded when the button is hovered over. `mode="iframe"` needs a served copy of the package all the same: see `src`.
import { loadBy } from './embed.js';

loadBy({ widget: () => import('./widget.js'), turnwise: () => import('./turnwise.js') });

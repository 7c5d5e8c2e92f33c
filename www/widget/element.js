// `import 'turnwise/element'`: the tag for bundlers. The same launcher as embed.js; the panel is a chunk of the bundle, loaded
// when the button is hovered over. `mode="iframe"` still needs a served copy of the package: see `src`.
import { loadBy } from './embed.js';

loadBy({
  widget: () => import('./widget.js'), turnwise: () => import('./turnwise.js'),
  'texts-de': () => import('./texts-de.js'), 'texts-es': () => import('./texts-es.js'), 'texts-fr': () => import('./texts-fr.js'),
  'texts-it': () => import('./texts-it.js'), 'texts-ja': () => import('./texts-ja.js'), 'texts-ko': () => import('./texts-ko.js'),
  'texts-pt': () => import('./texts-pt.js'), 'texts-ru': () => import('./texts-ru.js'), 'texts-zh': () => import('./texts-zh.js'),
});

// deep-chat as a site would embed it; ready when it reports that it has rendered.
import 'deep-chat';

const element = document.createElement('deep-chat');
element.onComponentRender = () => { window.ready ??= performance.now(); };
element.connect = { url: '/none', stream: true };
document.body.append(element);
window.field = () => element.shadowRoot?.getElementById('text-input');

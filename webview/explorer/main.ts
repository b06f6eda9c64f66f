// The page of the GPU Memory side panel.
import '../strings';
import './explorer.css';
import './findings.css';
import './memory.css';
import './timeline.css';
import './table.css';
import './menu.css';
import './tabs.css';
import './details.css';
import './compare.css';
import './ledger.css';
import './flame.css';
import './segments.css';
import type { ToHost, ToPage } from '../../extension/protocol/messages';
import { Outbox, type Batch } from '../../extension/protocol/outbox';
import { registerComponents } from '../components';
import { App } from './app';
import { RequestClient } from './client';
import { restore } from './state';

const vscode = acquireVsCodeApi();
const root = document.getElementById('app');
registerComponents();

const outbox = new Outbox<ToHost>(
  packet => vscode.postMessage(packet),
  run => queueMicrotask(run),
);
const client = new RequestClient(message => outbox.post(message));
const app = new App(client, restore(vscode.getState()), state => vscode.setState(state));
root?.append(app.element);

function receive(message: ToPage): void {
  switch (message.type) {
    case 'session':
      return app.setSession(message.session);
    case 'changed':
      return app.invalidate();
    case 'compare':
      return app.compare(message.a, message.b);
    case 'finding':
      return app.showFinding(message.id);
    case 'response':
      client.accept(message);
  }
}

addEventListener('message', ({ data }: MessageEvent<ToPage | Batch<ToPage>>) => {
  for (const message of data.type === 'batch' ? data.messages : [data]) receive(message);
});
document.addEventListener('visibilitychange', () => app.visible(!document.hidden));
outbox.post({ type: 'ready' });

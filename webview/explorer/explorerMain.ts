// The page of the GPU Memory side panel.
import '../strings';
import '../base.css';
import './shell/explorer.css';
import './findings/findings.css';
import './common/memory.css';
import './timeline/timeline.css';
import './table/table.css';
import './shell/menu.css';
import './shell/tabs.css';
import './details/details.css';
import './compare/compare.css';
import './ledger/ledger.css';
import './flame/flame.css';
import './segments/segments.css';
import './fit/fit.css';
import type { ToHost, ToPage } from '../../extension/protocol/requests/messages';
import { Outbox, type Batch } from '../../extension/protocol/requests/outbox';
import { registerComponents } from '../components';
import { App } from './shell/app';
import { RequestClient } from './shell/client';
import { restore } from './state/state';

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
      return app.setSession(message.session, message.answers === true);
    case 'changed':
      return app.invalidate();
    case 'judged':
      return app.judged();
    case 'compare':
      return app.compare(message.a);
    case 'finding':
      return app.showFinding(message.id);
    case 'moment':
      return app.showMoment({ kind: 'at', timeNs: message.timeNs }, message.title, message.finding);
    case 'block':
      return void app.showBlock(message.title, message.block);
    case 'focus':
      return app.focusFirst();
    case 'response':
      client.accept(message);
  }
}

addEventListener('message', ({ data }: MessageEvent<ToPage | Batch<ToPage>>) => {
  for (const message of data.type === 'batch' ? data.messages : [data]) receive(message);
});
document.addEventListener('visibilitychange', () => app.visible(!document.hidden));
outbox.post({ type: 'ready' });

/** What the page keeps beside code: from 920 px on the form of an editor (explorer.css), else that of a side panel, with as much room for the code. */
const [twice, beside, panels] = [1200, 920, 600].map(px => matchMedia(`(min-width: ${px}px)`));
const reportRoom = (): void => {
  const percent = twice!.matches ? 50 : beside!.matches ? 66 : panels!.matches ? 50 : 0;
  void app.request('setRoom', { percent });
};
for (const width of [twice, beside, panels]) width!.addEventListener('change', reportRoom);
reportRoom();

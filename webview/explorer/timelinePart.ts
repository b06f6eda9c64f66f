// The timeline with its data: asked for the window and the width that are shown.
import type { Frames } from '../dom';
import type { PageActions, PageContext, Part } from './part';
import { Poller } from './poller';
import type { Action } from './state';
import { ask, TimelineData } from './timelineData';
import { TimelineView } from './timelineView';
import { visibleWindow } from './zoom';

export class TimelinePart implements Part {
  private readonly view: TimelineView;
  private readonly poller = new Poller(() => this.ask());

  constructor(
    frames: Frames,
    private readonly page: PageActions,
  ) {
    this.view = new TimelineView(frames, {
      zoom: zoom => page.dispatch({ type: 'zoom', zoom }),
      toggle: series => page.dispatch({ type: 'series', series }),
      need: () => this.poller.invalidate(),
    });
  }

  get element(): HTMLElement {
    return this.view.element;
  }

  update({ view, runNs }: PageContext): void {
    this.view.update(view.zoom, view.hidden, runNs);
  }

  invalidate(): void {
    this.poller.invalidate();
  }

  wake(): void {
    this.poller.wake();
  }

  changed(action: Action): void {
    if (action.type === 'zoom' || action.type === 'process' || action.type === 'device') this.poller.invalidate();
  }

  forget(): void {
    this.view.forget();
  }

  recolour(): void {
    this.view.recolour();
  }

  private async ask(): Promise<void> {
    const context = this.page.now();
    if (!context) return;
    const { view, info, runNs } = context;
    const question = ask(visibleWindow(view.zoom, runNs), this.view.pixels, info, runNs, {
      process: view.process,
      device: view.device,
    });
    const answers = await this.page.ask('timeline', { series: question.series });
    if (!answers) return;
    this.view.setData(new TimelineData(question, answers));
  }
}

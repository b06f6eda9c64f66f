import { openLine } from '../../editor/openLine';
import type { SessionRequests } from '../../protocol/sessionRequests';
import type { PageModel } from '../page';
import type { Answers } from './answers';

export function sessionAnswers(model: PageModel): Answers<SessionRequests> {
  return {
    openLine: ({ file, line }) => openLine(file, line, model.cwd),
    start: () => model.press('start'),
    stop: () => model.press('stop'),
    setRecording: ({ on }) => model.setRecording(on),
    save: () => model.press('save'),
    mark: () => model.press('mark'),
    openWide: () => model.press('openWide'),
    showSession: ({ id }) => model.showSession(id),
    closeSession: ({ id }) => model.closeSession(id),
  };
}

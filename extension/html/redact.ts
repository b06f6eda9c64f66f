import type { RecordedPage } from './recordPage';

export function redactPage(page: RecordedPage): RecordedPage {
  return page;
}

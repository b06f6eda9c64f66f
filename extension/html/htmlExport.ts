// A trace as a page for browsers, read by an engine of its own: what a running program adds meanwhile is in no part of it.
import type { Engine, FromEngine, TraceFacts } from '../protocol/requests/engineRequests';
import { htmlFile } from './htmlFile';
import { recordPage, type Recording } from './recordPage';
import { redactPage } from './redact';

export interface HtmlExport extends Pick<Recording, 'path' | 'signal' | 'onProgress'> {
  /** Has the pages' scripts and styles. */
  dist: string;
  redact: boolean;
}

/** @param start makes the engine. Rejects with one sentence, or the signal's reason. */
export async function* htmlChunks(
  start: (send: (message: FromEngine) => void) => Engine,
  { dist, redact, ...of }: HtmlExport,
): AsyncGenerator<Uint8Array> {
  const known: Partial<TraceFacts> = {};
  const engine = start(message => {
    if (message.type === 'news') Object.assign(known, message.facts);
  });
  const page = await recordPage({ ...of, engine, facts: () => known });
  yield Buffer.from(htmlFile(redact ? redactPage(page) : page, dist));
}

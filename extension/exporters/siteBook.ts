import { libraryName } from '../text/libraryName';
import { remembered } from '../base/maps';
import type { Frame, Site, TraceInfo } from '../protocol/trace';
import { findThread } from '../protocol/threads';

const NO_LINE: Frame = { file: '', line: 0, function: '(no Python line)' };
const BEFORE_ATTACH: Frame = { file: '', line: 0, function: '(allocated before recording)' };

/** Stacks by site, each read once. */
export class SiteBook {
  private readonly sites = new Map<number, Site | null>();
  private readonly stacks = new Map<number, string>();

  constructor(private readonly source: { site(id: number): Site | null }) {}

  site(id: number): Site | null {
    return remembered(this.sites, id, () => this.source.site(id));
  }

  /** Innermost first; never empty: memory without a Python line has one frame with a note. */
  frames(id: number): readonly Frame[] {
    const site = this.site(id);
    if (site !== null && site.frames.length > 0) return site.frames;
    if (site?.source === 'before-attach') return [BEFORE_ATTACH];
    return [site?.library ? { file: '', line: 0, function: libraryName(site.library) } : NO_LINE];
  }

  /** `stackText` of its frames. */
  stack(id: number): string {
    return remembered(this.stacks, id, () => stackText(this.frames(id)));
  }

  /** The user's own line, else the innermost. */
  line(id: number): Frame {
    const site = this.site(id);
    return site?.frames[site.userFrame] ?? this.frames(id)[0] ?? NO_LINE;
  }
}

/** `python:4101`; empty where it is not known. */
export function threadName(info: TraceInfo, process: number, thread: number): string {
  const found = findThread(info.processes, process, thread);
  return found === undefined ? '' : `${found.name}:${found.tid}`;
}

/** `train.py:41 forward` of a frame. */
export function frameText({ file, line, function: name }: Frame): string {
  const place = file.slice(file.lastIndexOf('/') + 1);
  return `${place}${line > 0 ? `:${line}` : ''}${place === '' ? '' : ' '}${name}`;
}

/** A whole stack in one text, outermost frame first. */
export function stackText(frames: readonly Frame[]): string {
  return frames
    .map(({ file, line, function: name }) => (file === '' ? name : `${file}:${line} ${name}`))
    .reverse()
    .join('; ');
}

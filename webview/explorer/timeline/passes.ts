// The band below the chart: what the program did when.
import { PASSES, type Pass, type PassBegins } from '../../../extension/protocol/trace';
import type { TimeWindow } from './zoom';

export interface DrawnPass {
  pass: Pass;
  fromNs: number;
  toNs: number;
}

/** The mean width below which passes are a blur: none is drawn. */
const NARROWEST_PX = 5;

/** Those that are seen in the window; what is between passes is left out. None where they are too narrow to be told apart. */
export function drawnPasses(begins: PassBegins, window: TimeWindow, untilNs: number, pixels: number): DrawnPass[] {
  const passes: DrawnPass[] = [];
  for (let at = 0; at < begins.length; at += 2) {
    const pass = PASSES[begins[at + 1]!] ?? 'other';
    const [fromNs, toNs] = [begins[at]!, begins[at + 2] ?? untilNs];
    if (pass !== 'other' && toNs > window.fromNs && fromNs < window.toNs) passes.push({ pass, fromNs, toNs });
  }
  return passes.length * NARROWEST_PX > pixels ? [] : passes;
}

/** What was done at a time. */
export function passAt(begins: PassBegins, timeNs: number): Pass {
  let pass: Pass = 'other';
  for (let at = 0; at < begins.length && begins[at]! <= timeNs; at += 2) pass = PASSES[begins[at + 1]!] ?? 'other';
  return pass;
}

// What differs from machine to machine and from run to run, in texts that tests keep: one word stands for it there.
import { tmpdir } from 'node:os';
import { basename } from 'node:path';

const quoted = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** A folder that mkdtemp made. */
const PLACE = new RegExp(`${quoted(tmpdir())}/[\\w.-]+-\\w{6}(?![\\w-])`, 'g');
/** In the machine's time zone. */
const CLOCK = /\b\d{1,2}:\d\d:\d\d\s[AP]M\b/g;
const TIMESTAMP = /\b\d{4}-\d\d-\d\d[T ]\d\d:[\d:.]+(?: UTC|Z|[+-]\d\d:\d\d)?/g;
const PYTHON = basename(process.env.PYTHON ?? 'python3');

/** Where a text comes from a real run. */
const OF_A_RUN = [
  [/\b(PIDs?:?|UID:|processes|process|thread) \d+(?:(?:, | and )\d+)*/gi, '$1 N'],
  [/\/proc\/\d+/g, '/proc/N'],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:N'],
  [/(?<=traced now: )\d+/g, 'N'],
  [/-\d{8}-\d{6}-\d+(?=\.gputrace)/g, '-T'],
  [/\boom-\d+(?=\.md)/g, 'oom-N'],
  [/\btrace-\w{6}\b/g, 'trace-X'],
  [/\b0x[\da-f]{6,}/g, '0xN'],
  [/\b\d+ (?:h|min) \d+ (?:min|s)\b|\b[\d,.]+ (?:ns|µs|ms|s|min|h)(?![\w/])/g, 'T'],
  [/\b[\d.,]+ ?%/g, 'N%'],
];

/** `text` as it is kept; `root`: of the repository. `isOfRun`: a program ran, so also numbers of processes, times and shares differ. */
export function masked(text, root, isOfRun) {
  const anywhere = text.replaceAll(root, 'ROOT').replace(PLACE, 'PLACE').replace(TIMESTAMP, 'T').replace(CLOCK, 'T');
  if (!isOfRun) return anywhere;
  return OF_A_RUN.reduce((masks, [pattern, word]) => masks.replace(pattern, word), anywhere).replaceAll(
    PYTHON,
    'python3',
  );
}

/** A text whose numbers no run repeats. */
export const withoutNumbers = text =>
  text
    .replace(PLACE, 'PLACE')
    .replace(CLOCK, 'T')
    .replace(/\d+(?:[.,]\d+)*/g, 'N');

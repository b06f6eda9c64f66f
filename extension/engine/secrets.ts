// Command lines are shown, exported and pasted into reports: what is a secret in them is not. Each trace's facts pass here.
import type { TraceInfo } from '../protocol/trace';

const MASK = '***';
/** Names of options and variables whose value nobody else should see. */
const NAME =
  /(?:^|[-_.])(?:token|secrets?|pass(?:word|wd|phrase)?s?|pwd|credentials?|auth(?:orization)?|(?:api|access|private|secret|auth|signing|encryption)[-_]?keys?|key)$/i;
/** How the keys of well-known services begin, wherever they stand. */
const KEYS =
  /\b(?:hf_|sk-|pk-lf-|sk_live_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|npm_|pypi-|dckr_pat_|AKIA|ASIA|AIza|ya29\.|eyJ)[\w.\-+/=]{8,}/g;
const WANDB_KEY = /\b[0-9a-f]{40}\b/g;
const IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi;
const IN_QUERY = /([?&;](?:[\w.-]*[-_.])?(?:token|key|secret|password|sig|signature|auth)=)[^&\s;]+/gi;
const BEARER = /\b(Bearer|Basic)\s+\S+/gi;
/** `NAME=value`, also amid a word: in JSON, in the text of a shell, in overrides as `model.api_key=x`. */
const ASSIGNED = /(^|[\s,;'"{(]|--?)([\w.-]+)(["']?\s*[=:]\s*["']?)([^\s,;'"})]+)/g;

/** The words of a command line with each secret as `***`. */
export function maskSecrets(words: readonly string[]): string[] {
  let valueFollows = false;
  return words.map(word => {
    const isValue = valueFollows && !/^--?[a-z]/i.test(word);
    valueFollows = word.startsWith('-') && !word.includes('=') && NAME.test(word);
    return isValue ? MASK : maskText(word);
  });
}

const maskText = (word: string): string =>
  word
    .replace(IN_URL, `$1${MASK}`)
    .replace(IN_QUERY, `$1${MASK}`)
    .replace(BEARER, `$1 ${MASK}`)
    .replace(ASSIGNED, (all, before: string, name: string, between: string) =>
      NAME.test(name) ? `${before}${name}${between}${MASK}` : all,
    )
    .replace(KEYS, MASK)
    .replace(WANDB_KEY, MASK);

/** The same for all that a trace says of its programs. */
export function withoutSecrets(info: TraceInfo): TraceInfo {
  for (const process of info.processes) process.command = maskSecrets(process.command);
  const { command } = info.session;
  if (Array.isArray(command)) info.session.command = maskSecrets(command.map(String));
  return info;
}

// Text that a terminal shows and does not obey: names of files, functions, threads and marks can hold anything.

/** Control characters, line separators, and what turns the direction of writing. */
const COMMANDS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const LEFT_BY_JSON = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** One line: what a terminal would obey, line breaks too, stands as `\x1b`, `\u202e`. */
export function escapeForTerminal(line: string): string {
  return line.replace(COMMANDS, mark => {
    const code = mark.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

/** Lines as one text, each of them escaped. */
export function textOf(lines: readonly string[]): string {
  return lines.map(line => `${escapeForTerminal(line)}\n`).join('');
}

/** The same JSON, indented or not, without a character that a terminal would obey. */
export function escapeJson(json: string): string {
  return json.replace(LEFT_BY_JSON, mark => `\\u${hex(mark.charCodeAt(0), 4)}`);
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

// The file in which a project names its servers of the Model Context Protocol, for agents other than the editor's own.
import { applyEdits, modify, parse, type ParseError } from 'jsonc-parser';
import { isFields } from '../../protocol/fields';

const NAME = 'gpu-memory-trace';

/** The file's text with our server in it; comments and other servers stay. null: it is no JSON object, and is left as it is. */
export function withServer(text: string, server: object): string | null {
  const before = text.trim() === '' ? '{}\n' : text;
  const errors: ParseError[] = [];
  const document: unknown = parse(before, errors, { allowTrailingComma: true });
  if (errors.length > 0 || !isFields(document) || !isFields(document.mcpServers ?? {})) return null;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  const getInsertionIndex = (): number => 0; // behind the last one, a comment of that may stand
  return applyEdits(before, modify(before, ['mcpServers', NAME], server, { formattingOptions, getInsertionIndex }));
}

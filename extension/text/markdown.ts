// Names of a program in Markdown: they are text there, whatever a file is called. Comments on GitHub and the editor's preview show it.

/** Stands as it is, in the cells of a table too. */
export function code(text: string): string {
  return `\`${text.replaceAll('`', '’').replaceAll('|', '\\|')}\``;
}

/** A path of a holder is code, the words around it are not: `losses` (its graph). */
export function codePath(path: string): string {
  return path.replace(/^(cycle of )?(.+?)( \(.*)?$/, '$1`$2`$3');
}

/** No HTML, no link, no mention of a person and no emphasis outside of code. */
export function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/`[^`]*`|[`<[\]*~|\\@]|(?<![a-z\d])_|_(?![a-z\d])|:(?=\/\/)|(?<=\bwww)\./gi, found =>
      found.length > 1 ? found : `\\${found}`,
    );
}

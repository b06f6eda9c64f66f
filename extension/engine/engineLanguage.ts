// The language of the window, whose texts are in the file that the host names. Imported before all else: texts of modules are made when
// these are loaded.
import { config } from '@vscode/l10n';

const [, , , texts] = process.argv;
if (texts !== undefined) config({ fsPath: texts });

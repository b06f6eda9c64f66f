// The language of a page. Imported before all else: texts of modules are made when these are loaded.
import { config } from '@vscode/l10n';

config({ contents: document.getElementById('app')?.dataset.strings ?? '{}' });

// The language of the texts of extension/analysis. Imported before all else: texts of modules are made when these are loaded.
import { config } from '@vscode/l10n';
import { l10n } from 'vscode';

config({ contents: l10n.bundle ?? {} });

// The linter's rules. The walls between folders (who may import what) are data here; the compiler holds the rest of them
// through each folder's `lib` and `types`.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Folder -> what its files and those of its rooms may import besides files of the folder itself. Everything else is
 * refused. */
const walls = [
  { folder: 'extension/protocol', may: [] },
  { folder: 'extension/engine', may: ['node:', '../protocol/'] },
  { folder: 'extension/capture', may: ['node:', '../protocol/'] },
  { folder: 'extension/analysis', may: ['node:path', '../protocol/'] },
  { folder: 'extension/exporters', may: ['node:', '../protocol/', '../engine/', 'apache-arrow', 'pprof-format'] },
];

const literally = text => text.replaceAll('.', '\\.');

/** One rule for the files of the folder itself, one for those of its rooms: from there, one level more leads outside. */
const wall = ({ folder, may }) =>
  [
    { files: `${folder}/*.ts`, own: '\\./', up: '' },
    { files: `${folder}/*/**/*.ts`, own: '\\./|\\.\\./(?!\\.)', up: '../' },
  ].map(({ files, own, up }) => {
    const outside = ['\\0', ...may.map(start => literally(start.startsWith('../') ? up + start : start))];
    return {
      files: [files],
      rules: refuse(
        `^(?!${[own, ...outside].join('|')})`,
        `${folder} may import only ${['its own files', ...may].join(', ')}.`,
      ),
    };
  });

function refuse(regex, message) {
  return { 'no-restricted-imports': ['error', { patterns: [{ regex, message }] }] };
}

const budgets = {
  'max-lines': ['error', { max: 400 }],
  'max-lines-per-function': ['error', { max: 80 }],
};

export default tseslint.config(
  { ignores: ['dist/', 'build/', '.bench/', '.vscode-test/', 'node_modules/'] },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    // Node.js's own, and what the functions that run inside a page see there.
    languageOptions: {
      globals: Object.fromEntries(
        [...Object.getOwnPropertyNames(globalThis), 'window', 'document'].map(name => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite'] },
          ],
        },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      eqeqeq: 'error',
    },
  },
  { files: ['extension/**/*.ts', 'webview/**/*.ts'], rules: budgets },
  ...walls.flatMap(wall),
  {
    files: ['extension/cli.ts', 'extension/cli/**/*.ts'],
    rules: refuse('^vscode$|/(views|editor|main)(/|$)', 'The command line runs without VS Code.'),
  },
  {
    files: ['webview/**/*.ts'],
    rules: refuse(
      '^(vscode$|node:)|extension/(?!protocol/)|^@vscode/webview-ui-toolkit',
      'The page imports extension/protocol alone; the frozen toolkit only through webview/components.ts.',
    ),
  },
  {
    files: ['webview/components.ts'],
    rules: refuse('^(vscode$|node:)|extension/(?!protocol/)', 'The page imports extension/protocol alone.'),
  },
);

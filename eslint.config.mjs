// The linter's rules. Who may import whom is in .dependency-cruiser.mjs.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const budgets = {
  'max-lines': ['error', { max: 400 }],
  'max-lines-per-function': ['error', { max: 80 }],
};

const looking = [
  'accessSync',
  'constants',
  'existsSync',
  'lstatSync',
  'readdirSync',
  'realpathSync',
  'statSync',
  'statfsSync',
];
const files = {
  paths: [
    { name: 'node:fs', allowImportNames: [...looking, 'writeSync'], message: 'Use extension/files/files.ts.' },
    { name: 'node:fs/promises', allowImportNames: ['readlink'], message: 'Use extension/files/files.ts.' },
    { name: 'fs', message: 'Use extension/files/files.ts.' },
  ],
};

export default tseslint.config(
  { ignores: ['dist/', 'build/', '.vscode-test/', 'node_modules/', '**/*.gen.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.mjs', '**/*.cjs'],
    // Node.js's own, and what the functions that run inside a page see there.
    languageOptions: {
      globals: Object.fromEntries(
        [...Object.getOwnPropertyNames(globalThis), 'window', 'document', 'require', 'exports'].map(name => [
          name,
          'readonly',
        ]),
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
  // Elsewhere a path is only looked at: extension/files/README.md
  {
    files: ['extension/**/*.ts'],
    ignores: ['extension/files/*'],
    rules: { 'no-restricted-imports': ['error', files] },
  },
);

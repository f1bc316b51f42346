import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { environment, layers } from './tools/boundaries.js';

const PRINTED = [
  'CallExpression[callee.property.name="write"][callee.object.property.name=/^std(out|err)$/]',
  'CallExpression[callee.property.name="write"][callee.object.name=/^(stdout|stderr|stream)$/]',
].map((selector) => ({
  selector,
  message: 'Print with src/process/print.ts: text from outside may move the cursor or be a CI command.',
}));

const COMPUTED_IMPORT = {
  selector: 'ImportExpression > :not(Literal).source',
  message: 'Import a literal path, so that lint can check it.',
};

const TOP_LEVEL = ['Program', 'Program > ExportNamedDeclaration'].map((it) => `${it} > VariableDeclaration`);
const SHARED_STATE = [
  '[kind="let"]',
  ' > VariableDeclarator > NewExpression[callee.name=/^(Weak)?(Map|Set)$/][arguments.length=0]',
  ' > VariableDeclarator > Literal[regex.flags=/[gy]/]',
]
  .flatMap((state) => TOP_LEVEL.map((declaration) => declaration + state))
  .map((selector) => ({
    selector,
    message: 'All workflows of a worker share the modules of the bundle: keep state inside of functions.',
  }));

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.belay/', 'packages/', 'deploy/github-action/belay.mjs'] },
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', 'tools/*.js', 'deploy/github-action/*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // A smoke detector: a file is as long as its idea.
      'max-lines': ['error', { max: 500 }],
      'max-lines-per-function': ['error', { max: 100 }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['test', 'describe', 'it'], package: 'node:test' }] },
      ],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      'no-console': 'error',
    },
  },
  layers,
  environment,
  {
    // Everything that is printed goes through src/process/print.ts, which makes text from outside safe.
    files: ['src/**'],
    ignores: [
      'src/process/print.ts',
      // These make text safe in their own way: JSON, log lines, and lines of a terminal.
      'src/process/json-document.ts',
      'src/process/log.ts',
      'src/process/live-lines.ts',
      // Writes nothing, to wait until everything is written.
      'src/cli/program.ts',
    ],
    rules: {
      'no-restricted-syntax': ['error', ...PRINTED, COMPUTED_IMPORT],
    },
  },
  {
    files: ['src/workflows/**', 'src/contract/**', 'src/request/*', 'src/rules/**', 'src/features/**'],
    // The sides of features that the workflow bundle never holds.
    ignores: [
      'src/features/*/{config,worker,proof,client,commands,actions,doctor,dry-run}*',
      'src/features/{board,doctor,overview}/**',
    ],
    rules: { 'no-restricted-syntax': ['error', ...PRINTED, COMPUTED_IMPORT, ...SHARED_STATE] },
  },
  {
    files: ['test/**', 'bench/**'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-syntax': [
        'error',
        ...[
          'MemberExpression[object.name=/^(test|describe|it|suite)$/][property.name="only"]',
          'CallExpression[callee.name=/^(test|describe|it|suite)$/] > ObjectExpression > Property[key.name="only"]',
        ].map((selector) => ({
          selector,
          message: 'From Node 24 on, the other tests of its process would not run, in silence.',
        })),
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { URL: 'readonly' } },
  },
  {
    files: ['bench/peers/*.js'],
    languageOptions: { globals: { fetch: 'readonly', process: 'readonly' } },
  },
);

import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const NODE_BUILTINS = { group: ['node:*'], message: 'Workflows are deterministic: no I/O here.' };

/** Bans values from these modules; types may come from anywhere. */
const noValuesFrom = (message, ...group) => ({ group, message, allowTypeImports: true });

const onlyImports = (files, ...patterns) => ({
  files,
  rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
});

const PROGRAMS = [
  '**/cli.ts',
  '**/src/worker.ts',
  '../worker.ts',
  './worker.ts',
  '**/src/sandbox.ts',
  '../sandbox.ts',
  './sandbox.ts',
  '**/src/webhooks.ts',
  '../webhooks.ts',
  './webhooks.ts',
];
const noPrograms = noValuesFrom('Nobody imports a program.', ...PROGRAMS);

/** What whoever starts runs, or hands events over, does without. */
const WORKER_AND_SANDBOX = ['**/worker/**', '**/service/**', '**/activities/**', '**/workflows/**', '**/sandbox/**'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.belay/'] },
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', 'tools/*.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 70 }],
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
  // The directions of docs/architecture.md: contract <- workflows, service <- activities, programs -> anything.
  onlyImports(
    ['src/workflows/**'],
    NODE_BUILTINS,
    noValuesFrom(
      'Workflows import pure modules only, and activities as types.',
      '@temporalio/client',
      '@temporalio/worker',
      '@temporalio/activity',
      'zod',
      'axios',
      'fastify',
      '**/activities/**',
      '**/service/**',
      '**/sandbox/**',
      '**/starter/**',
      '**/worker/**',
      '**/dev/**',
      '**/config.ts',
    ),
    noPrograms,
  ),
  onlyImports(
    [
      'src/workflows/rules/**',
      'src/contract/run.ts',
      'src/contract/event.ts',
      'src/contract/wording/event-subjects.ts',
      'src/contract/rollout.ts',
      'src/contract/activities.ts',
      'src/contract/wording/duration.ts',
      'src/contract/plain-object.ts',
      'src/request/start-options.ts',
      'src/contract/results/empty-results.ts',
      'src/request/validate-rollout-input.ts',
      'src/contract/results/tally.ts',
      'src/contract/wording/explain-wait.ts',
      'src/fleets/**',
      'src/schedules/**',
      'src/contract/ids/workflow-ids.ts',
      'src/request/validate-run-input.ts',
      'src/contract/wording/safe-text.ts',
    ],
    NODE_BUILTINS,
    noValuesFrom('Pure: no Temporal, no I/O.', '@temporalio/*', 'zod', 'axios'),
    noPrograms,
  ),
  onlyImports(['src/service/**'], { group: ['../*'], message: 'The client of the service is a package of its own.' }),
  onlyImports(
    ['src/activities/**'],
    noValuesFrom(
      'Activities use the service and the contract.',
      '@temporalio/client',
      '@temporalio/worker',
      '**/workflows/**',
      '**/sandbox/**',
      '**/starter/**',
      '**/dev/**',
      '**/config.ts',
    ),
    noPrograms,
  ),
  onlyImports(
    ['src/sandbox/**'],
    {
      group: ['**/service/**', '**/activities/**', '**/workflows/**', '@temporalio/*'],
      message: 'The sandbox shares nothing with those it judges.',
    },
    noPrograms,
  ),
  onlyImports(
    ['src/starter/**', 'src/starter.ts'],
    noValuesFrom('Whoever starts runs holds no worker.', '@temporalio/worker', ...WORKER_AND_SANDBOX),
    noPrograms,
  ),
  onlyImports(
    ['src/events/**', 'src/notifications/**'],
    noValuesFrom(
      'The receiver holds no worker and no token, and hands over to the starter.',
      '@temporalio/*',
      ...WORKER_AND_SANDBOX,
    ),
    noPrograms,
  ),
  onlyImports(
    ['src/dev/**', 'src/worker/**'],
    noValuesFrom('Only the starter uses it.', '@temporalio/client'),
    noPrograms,
  ),
  onlyImports(
    ['src/commands/**'],
    noValuesFrom('Only the starter uses it.', '@temporalio/client'),
    noValuesFrom('It takes long to load: with-belay.ts does so when it is needed.', '**/starter.ts'),
    noPrograms,
  ),
  {
    files: ['src/*/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'src/config/environment/environment.ts reads the environment.' },
      ],
    },
  },
  {
    files: ['test/**', 'bench/**'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { URL: 'readonly' } },
  },
);

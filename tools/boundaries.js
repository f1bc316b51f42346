/**
 * Who may import whom, for eslint-plugin-boundaries. Imports run in one direction: a folder names what it may import, and
 * what it does not name is forbidden. `type` allows `import type` only, and `dynamic` allows `import()` only.
 * The workflow bundle may hold `contract`, `request` (without calendar/ and input/), `rules` and `workflows`, and of a feature
 * every file but those whose name begins with one of OUTSIDE; `board`, `doctor` and `overview` are outside as a whole.
 */
import boundaries from 'eslint-plugin-boundaries';

const PURE = ['contract', 'request', 'rules'];
/** Folders of src, from the bottom up, and what each may import. */
const MAY = {
  contract: {},
  request: { value: ['contract'] },
  calendar: { value: ['contract'] },
  input: { value: ['contract', 'request'] },
  rules: { value: ['contract', 'request'] },
  workflows: { value: PURE, type: ['activities'] },
  process: { value: ['contract'] },
  // Packages of their own: the client of the service, the reader of sites, and the emulator that must not share a mistake with it.
  'hosting-api': { value: ['echo'] },
  'site-check': { value: ['echo'] },
  // What both of those clients do with an answer that echoes a secret of its request.
  echo: {},
  sandbox: {},
  config: { value: [...PURE, 'calendar', 'input', 'site-check'], type: ['process'] },
  tracing: { value: ['contract', 'config', 'process'] },
  encryption: { value: ['contract', 'config'], type: ['process'] },
  activities: { value: [...PURE, 'calendar', 'input', 'hosting-api'], type: ['client', 'config', 'site-check'] },
  client: { value: [...PURE, 'input', 'config', 'encryption', 'tracing'], type: ['activities'] },
  worker: {
    value: [...PURE, 'process', 'hosting-api', 'site-check', 'config', 'encryption', 'activities', 'client'],
    type: ['tracing'],
  },
  webhooks: { value: [...PURE, 'process', 'config', 'client'] },
  dev: {
    value: [...PURE, 'process', 'sandbox', 'config', 'tracing', 'encryption', 'worker', 'webhooks'],
    type: ['client'],
  },
  cli: {
    value: [...PURE, 'calendar', 'input', 'process', 'hosting-api', 'config', 'client', 'dev'],
    type: ['starter', 'program'],
    dynamic: ['starter', 'program'],
  },
};
/**
 * The sides of a feature, and what each may import beside the shapes of other features and the words for them (`text.ts`). What
 * hangs on another feature also imports the types of its `hooks.ts`.
 */
const OUTSIDE = {
  config: ['config'],
  worker: ['worker', 'proof'],
  client: ['client'],
  cli: ['commands', 'actions', 'doctor', 'dry-run'],
};
const SIDES = {
  shapes: { value: ['contract'], own: ['shapes'] },
  hooks: { ...MAY.workflows, value: [...PURE, 'workflows'], own: ['shapes', 'flow'] },
  flow: { ...MAY.workflows, value: [...PURE, 'workflows'], own: ['shapes', 'hooks', 'flow'] },
  config: {
    value: [...PURE, 'calendar', 'input', 'site-check', 'config'],
    own: ['shapes', 'flow', 'config', 'worker'],
  },
  worker: {
    value: [...PURE, 'calendar', 'input', 'process', 'hosting-api', 'site-check', 'config', 'activities'],
    own: ['shapes', 'flow', 'config', 'worker'],
  },
  client: {
    value: [...PURE, 'calendar', 'input', 'config', 'encryption', 'client'],
    own: ['shapes', 'flow', 'client'],
  },
  cli: {
    value: [...MAY.cli.value, 'encryption', 'site-check', 'webhooks', 'worker', 'cli'],
    type: ['starter'],
    own: ['shapes', 'flow', 'config', 'worker', 'client', 'cli'],
  },
};
/** Features that show what the others know. They hang on no list of the core. */
const SHOW = ['board', 'doctor', 'overview'];
/** Where features are listed. */
const LISTS = [
  'contract/features.ts',
  'workflows/{index,features}.ts',
  'activities/{deps,features}.ts',
  'worker/{start,features}.ts',
  'config/{policy,features}.ts',
  'client/connect.ts',
  'client/lookups/index.ts',
  'cli/{dry-run,features}.ts',
];
/** Other files outside of src/features, and the features that they know. */
const ALSO_KNOW = {
  // `wait`, `status` and `cancel` take runs and rollouts, and show how long each usually takes. `belay dev` serves the board.
  'cli/*.ts': ['advice', 'board', 'rollouts'],
  // The receiver is the other half of events.
  'webhooks/*.ts': ['events'],
};
/** Packages that only these may import. In what the workflow bundle may hold, every other one is forbidden. */
const BUNDLED = { contract: [], rules: [], request: ['@temporalio/common'], workflows: ['@temporalio/*'] };
const ONLY_IN = {
  '@temporalio/client': ['client', 'worker', 'feature'],
  '@temporalio/worker': ['worker', 'dev', 'cli', 'feature'],
};

const inFolder = (name) => ({ element: { type: name } });
const side = (name, feature) => ({
  element: { type: 'feature', ...(feature === undefined ? {} : { captured: { feature } }) },
  file: { categories: name },
});
const target = (name) => (['starter', 'program'].includes(name) ? { file: { categories: name } } : inFolder(name));
const rowOf = (from, { value = [], type = [], dynamic = [] }) => ({
  from,
  allow: [
    { to: value.map(target) },
    { to: type.map(target), dependency: { kind: 'type' } },
    { to: dynamic.map(target), dependency: { nodeKind: 'dynamic-import' } },
  ].filter(({ to }) => to.length > 0),
});
const inFile = (path) => ({ file: { path: `**/src/${path}` } });
/** Which sides of a feature a folder may meet, where it may know the feature. */
const MEETS = {
  contract: ['shapes'],
  workflows: ['hooks', 'flow'],
  activities: ['flow', 'worker'],
  config: ['flow', 'config', 'worker'],
  client: ['flow', 'client', 'worker'],
  worker: ['worker'],
  webhooks: ['config', 'client'],
  cli: ['flow', 'cli'],
};

const policies = [
  ...Object.entries(MAY).map(([name, row]) => rowOf(inFolder(name), { ...row, value: [name, ...(row.value ?? [])] })),
  ...Object.entries(SIDES).map(([name, row]) => rowOf(side(name), row)),
  // Of its own feature, and the shapes and words of every other.
  ...Object.entries(SIDES).map(([name, { own }]) => ({
    from: side(name),
    allow: { to: [side('shapes'), ...own.map((it) => side(it, '{{ from.element.captured.feature }}'))] },
  })),
  { from: side('flow'), allow: { to: side('hooks'), dependency: { kind: 'type' } } },
  // What requests and results carry of a feature is among the permanent names.
  {
    from: ['contract', 'request', 'calendar', 'input'].map(inFolder),
    allow: { to: side('shapes'), dependency: { kind: 'type' } },
  },
  {
    from: ['input', 'rules', 'workflows', 'activities', 'config', 'client', 'worker', 'webhooks', 'cli'].map(inFolder),
    allow: { to: side('shapes') },
  },
  ...LISTS.map((file) => ({ from: inFile(file), allow: { to: MEETS[file.split('/')[0]].map((it) => side(it)) } })),
  ...Object.entries(ALSO_KNOW).map(([file, features]) => ({
    from: inFile(file),
    allow: {
      to: features.flatMap((feature) => [...MEETS[file.split('/')[0]], 'shapes'].map((it) => side(it, feature))),
    },
  })),
  ...SHOW.flatMap((feature) =>
    Object.entries(SIDES).map(([name, { own }]) => ({
      from: side(name, feature),
      allow: { to: own.map((it) => side(it)) },
    })),
  ),
  // Programs, and the entry of the library.
  {
    from: { file: { categories: ['program', 'starter'] } },
    allow: { to: [...Object.keys(MAY), 'feature'].map(inFolder) },
  },

  // Packages.
  { allow: { to: { module: { origin: ['external', 'core'] } } } },
  ...Object.entries(ONLY_IN).map(([source, folders]) => ({
    from: Object.keys({ ...MAY })
      .filter((it) => !folders.includes(it))
      .map(inFolder),
    disallow: { to: { module: { origin: 'external', source } }, dependency: { kind: 'value' } },
  })),
  ...[
    ...Object.keys(BUNDLED).map((it) => [inFolder(it), BUNDLED[it]]),
    [side('shapes'), []],
    [side('hooks'), []],
    [side('flow'), ['@temporalio/*']],
  ].flatMap(([from, packages]) => [
    { from, disallow: { to: { module: { origin: ['external', 'core'] } } } },
    { from, allow: { to: { module: { origin: 'external', source: ['@noble/hashes', ...packages] } } } },
    {
      from,
      disallow: { to: { module: { source: ['@temporalio/client', '@temporalio/worker', '@temporalio/activity'] } } },
    },
  ]),
];

/** The part of eslint.config.js that keeps the folders apart. */
export const layers = {
  files: ['src/**/*.ts'],
  plugins: { boundaries },
  settings: {
    'boundaries/elements': [
      { type: 'calendar', pattern: 'src/request/calendar', partialMatch: false, exclusive: true },
      { type: 'input', pattern: 'src/request/input', partialMatch: false, exclusive: true },
      { type: 'feature', pattern: 'src/features/*', capture: ['feature'], partialMatch: false },
      ...Object.keys(MAY)
        .filter((it) => !['calendar', 'input'].includes(it))
        .map((type) => ({ type, pattern: `src/${type}`, partialMatch: false })),
    ],
    'boundaries/files': [
      { category: 'program', pattern: 'src/{cli,worker,webhooks,sandbox,codec-server,board}.ts', exclusive: true },
      { category: 'starter', pattern: 'src/starter.ts', exclusive: true },
      { category: 'shapes', pattern: 'src/features/*/{shapes,text}.ts', exclusive: true },
      { category: 'hooks', pattern: 'src/features/*/hooks.ts', exclusive: true },
      { category: 'cli', pattern: `src/features/{${SHOW.join(',')}}/!(client)*.ts`, exclusive: true },
      ...Object.entries(OUTSIDE).map(([category, names]) => ({
        category,
        pattern: names.flatMap((it) => [`src/features/*/${it}.ts`, `src/features/*/${it}-*.ts`]),
        exclusive: true,
      })),
      { category: 'flow', pattern: 'src/features/*/*.ts' },
    ],
    'boundaries/dependency-nodes': ['import', 'export', 'dynamic-import'],
  },
  rules: {
    'boundaries/dependencies': [
      'error',
      { default: 'disallow', checkAllOrigins: true, checkInternals: true, checkUnknownLocals: true, policies },
    ],
    'boundaries/no-unknown-files': 'error',
    // One place reads the environment.
    'no-restricted-properties': [
      'error',
      { object: 'process', property: 'env', message: 'src/config/environment reads the environment.' },
    ],
  },
};
export const environment = { files: ['src/config/environment/**'], rules: { 'no-restricted-properties': 'off' } };

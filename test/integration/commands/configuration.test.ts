import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { test } from 'node:test';
import { ConfigError } from '../../../src/config/environment/variables.ts';
import { readConfiguration } from '../../../src/config/load.ts';
import { configurationSchema } from '../../../src/config/file/file-schema.ts';
import { EVENT_KINDS } from '../../../src/features/events/shapes.ts';
import { reactionsTo } from '../../../src/webhooks/sources.ts';
import { jsonSchemaOf } from '../../../tools/schemas.ts';
import { runInProcess } from '../../support/in-process.ts';
import { run } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(path, text);
  return path;
}

async function problemOf(text: string): Promise<string> {
  const path = await fileWith(text);
  const error = await readConfiguration({ path, isNamed: true }).then(
    () => null,
    (it: unknown) => it,
  );
  assert.ok(error instanceof ConfigError, text);
  return error.message.replace(path, 'FILE');
}

test('belay.yaml may be empty, and may be missing unless BELAY_CONFIG names it', async () => {
  const path = join(await tempFolder(), 'belay.yaml');
  assert.deepEqual(await readConfiguration({ path, isNamed: false }), {});
  assert.deepEqual(await readConfiguration({ path: await fileWith('# nothing\n'), isNamed: true }), {});
  assert.deepEqual(await readConfiguration({ path: '/dev/null', isNamed: true }), {});
  await assert.rejects(
    readConfiguration({ path, isNamed: true }),
    /cannot be read \(ENOENT\): set BELAY_CONFIG to the path of belay\.yaml/,
  );
});

test('the example of docs/reference/belay-yaml.md is read without errors and matches the schema', async () => {
  const text = /```yaml\n([^]*?)```/.exec(
    readFileSync(new URL('../../../docs/reference/belay-yaml.md', import.meta.url), 'utf8'),
  );
  const shown = text?.[1] ?? '';
  const read = await readConfiguration({ path: await fileWith(shown), isNamed: true });
  assert.deepEqual(read.statuses, { deployment: { cancelled: 'failed' }, backup: { expired: 'failed' } });
  assert.deepEqual(Object.keys(read.events?.sources ?? {}), ['panel', 'scripts']);
  assert.ok(new Ajv2020({ strict: false }).validate(jsonSchemaOf(configurationSchema), parse(shown)));
  for (const kind of EVENT_KINDS)
    assert.deepEqual(
      read.events?.reactions?.[kind],
      reactionsTo({ kind, isVerified: true, namesBackup: true }, {}),
      kind,
    );
});

test('a mistake in belay.yaml is reported with its file, line, key and remedy', async () => {
  assert.equal(
    await problemOf('statuses:\n  deployment:\n    done: completed\n    cancelled: faild\n'),
    'FILE:4: statuses.deployment.cancelled: write one of completed, failed',
  );
  assert.match(
    await problemOf('\nstatus:\n  x: y\n'),
    /^FILE:2: status: there is no such key \(did you mean statuses\?\); see docs/,
  );
  assert.match(await problemOf('statuses:\n  site: {}\n'), /^FILE:2: statuses\.site: there is no such key/);
  assert.match(await problemOf('statuses: [a]\n'), /^FILE:1: statuses: /);
  assert.match(await problemOf('a: 1\nb: [\n'), /^FILE:\d: /);
  assert.match(await problemOf('statuses:\n  backup: {}\nstatuses: {}\n'), /^FILE:3: /);
});

test('a mistake in events or notify is reported with its file, line, key and remedy', async () => {
  const inSource = (...lines: string[]) =>
    ['events:', '  sources:', '    panel:', ...lines.map((line) => `      ${line}`)].join('\n');
  const panel = 'events.sources.panel';
  const standard = 'verify: standard-webhooks';
  const word = 'standard-webhooks, hmac-sha256 or none';
  for (const [text, problem] of [
    [inSource('verify: hmac'), `FILE:4: ${panel}.verify: write verify: ${word}`],
    [inSource('secrets: []'), `FILE:3: ${panel}.verify: write verify: ${word}`],
    [inSource(standard), `FILE:3: ${panel}.secrets: it is missing; `],
    [inSource(standard, 'secrets: []'), `FILE:5: ${panel}.secrets: name at least one secret`],
    [inSource(standard, 'secrets: [whsec_x]'), `FILE:5: ${panel}.secrets.0: do not write a secret or address here`],
    [
      inSource(standard, 'secrets:', '  - { file: a, env: B }'),
      `FILE:6: ${panel}.secrets.0: do not write a secret or address`,
    ],
    [inSource(standard, 'secrets: [{ env: A }]', 'header: x'), `FILE:6: ${panel}.header: there is no such key`],
    [inSource('verify: none', 'fields: { servre: a }'), `FILE:5: ${panel}.fields.servre: there is no such key`],
    [inSource('verify: none', 'kinds: { backup: [a] }'), `FILE:5: ${panel}.kinds.backup: `],
    ['events:\n  sources:\n    "a/b": { verify: none }', 'FILE:3: events.sources.a/b: use a name of 1 to 50'],
    [
      'events:\n  reactions:\n    alert.fired: [end-wait]',
      'FILE:3: events.reactions.alert.fired.0: write one of hold, notify',
    ],
    ['notify:\n  on: never', 'FILE:2: notify.on: write one of failed, all'],
    ['notify:\n  targets:\n    ops: https://x', 'FILE:3: notify.targets.ops: do not write a secret or address'],
  ] as const) {
    const told = await problemOf(text);
    assert.ok(told.startsWith(problem), `${text}\n${told}\n${problem}`);
  }
});

const nine = (item: string) => `[${Array<string>(9).fill(item).join()}]`;
const SERVERS = 'fleets:\n  shop:\n    servers:';

for (const [text, said] of [
  ['fleets:\n  a: { servers: { 1: } }\n---\nrollouts:', '3: the file: the file has two documents: remove the line ---'],
  ["rollouts:\n  a: { fleet: 'b }", '2: rollouts.a.fleet: a quote or bracket is never closed: close it'],
  [
    'rollouts:\n  a: fleet: b',
    '2: rollouts.a.fleet: two keys in one line: start a new line after the first one, or put ',
  ],
  ['rollouts:\n\ta: { fleet: b }', '2: rollouts: it is indented with a tab: use spaces'],
  ['rollouts:\n  a: { fleet: %3 }', '2: rollouts.a.fleet: a value cannot begin with this character: put it in quotes'],
  ['fleets: [1, 2', '1: fleets.1: indent it like the lines around it, and close any bracket before it'],
  [`${SERVERS}\n      12: {}\n      14:\n     13: {}`, '6: fleets.shop.13: indent it like the lines around it, '],
  [`${SERVERS}\n      {{ SERVER }}: { sites: [] }`, '4: fleets.shop.servers: a key must be a word, not a list or a '],
  [`${SERVERS}\n      [12, 13]: { sites: [1] }`, '4: fleets.shop.servers: a key must be a word, not a list or a '],
  ['statuses:\n  backup: { "": failed }', '2: statuses.backup: a key must be a word, not a list or a '],
  ['fleets:\n  \ufffdshop: {}', '1: the file: the file is not valid UTF-8: save it as UTF-8'],
  [
    `a: &a ${nine('x')}\nb: &b ${nine('*a')}\nc: &c ${nine('*b')}\nd: ${nine('*c')}`,
    '1: the file: its *aliases expand to too many values: write them out',
  ],
  [
    'statuses:\n  backup: { Expired: failed, "expired ": completed }',
    '2: statuses.backup.expired: duplicate word, as case and surrounding spaces are ignored: remove one',
  ],
  [
    'statuses: { deployment: { Completed: failed } }',
    '1: statuses.deployment.Completed: this word is always final: remove it',
  ],
  [
    'events: { sources: { a: { verify: none, kinds: { alert.fired: [x], unknown: [y, X] } } } }',
    '1: events.sources.a.kinds.unknown.1: duplicate word: remove one',
  ],
] as const) {
  test(`a mistake is reported with its line, key and remedy: ${said}`, async () => {
    const problem = await problemOf(text);
    assert.ok(problem.startsWith(`FILE:${said}`), problem);
  });
}

test('names that look like numbers are read as written', async () => {
  const text =
    'fleets: { 1e3: { servers: { 1: } } }\nrollouts: { 007: { fleet: 1e3 } }\nnotify: { targets: { 0x1: { env: A } } }';
  const { rollouts, notify } = await readConfiguration({ path: await fileWith(text), isNamed: true });
  assert.deepEqual(
    [Object.keys(rollouts ?? {}), rollouts?.['007']?.fleet, Object.keys(notify?.targets ?? {})],
    [['007'], '1e3', ['0x1']],
  );
});

test('worker, dev and doctor exit 2 and report the file and line of a mistake in belay.yaml', async () => {
  const BELAY_CONFIG = await fileWith('statuses: 1\n');
  const env = { BELAY_CONFIG, BELAY_API_URL: 'https://host', BELAY_API_TOKEN: TOKEN, BELAY_HOME: await tempFolder() };
  for (const command of ['worker', 'dev', 'doctor']) {
    // In this process, doctor would wait long for a Temporal server.
    const asked = command === 'doctor' ? run : runInProcess;
    const { code, stdout, stderr } = await asked([command], env);
    assert.equal(code, 2);
    assert.ok((stdout + stderr).includes(`${BELAY_CONFIG}:1: statuses: `));
  }
});

test('a worker exits 2 and reports file and line if a secret or the signers of belay.yaml cannot be used', async () => {
  const token =
    'notify:\n  reports:\n    shop:\n      kind: github\n      repository: a/b\n      token: { env: NO_SUCH }\n';
  const target = 'notify:\n  targets:\n    ops: { env: NO_SUCH }\n';
  const signers = 'approvals:\n  production:\n    proof: ssh\n    signers: { file: /no/such/file }\n';
  for (const [text, problem] of [
    [token, '6: notify.reports.shop.token: the variable NO_SUCH is not set'],
    [target, '3: notify.targets.ops: the variable NO_SUCH is not set'],
    [signers, '4: approvals.production.signers: /no/such/file cannot be read'],
  ] as const) {
    const BELAY_CONFIG = await fileWith(text);
    const env = { BELAY_CONFIG, BELAY_API_URL: 'https://host', BELAY_API_TOKEN: TOKEN, BELAY_HOME: await tempFolder() };
    const { code, stdout, stderr } = await runInProcess(['worker'], env);
    assert.equal(code, 2);
    assert.ok((stdout + stderr).includes(`${BELAY_CONFIG}:${problem}`), stderr);
  }
});

test('numbers in a rollout or schedule are read as numbers whatever its name, and ids as written', async () => {
  const path = await fileWith(`fleets: { shop: { servers: { 0012: } } }
rollouts: { start: { fleet: shop, maxAtOnce: 3 }, labels: { fleet: shop, maxAtOnce: 3 } }
schedules: { fleets: { start: { backup: 0012 }, calendar: { hour: 2 } } }
`);
  const { rollouts, schedules } = await readConfiguration({ path, isNamed: true });
  assert.deepEqual([rollouts?.start?.maxAtOnce, rollouts?.labels?.maxAtOnce], [3, 3]);
  assert.deepEqual([schedules?.fleets?.calendar?.hour, schedules?.fleets?.start.backup], [[2], '0012']);
});

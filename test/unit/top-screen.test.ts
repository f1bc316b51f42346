import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import colors from 'picocolors';
import {
  overviewDocument,
  overviewLines,
  inFlightTable,
  overviewText,
} from '../../src/features/overview/show-in-flight.ts';
import { targetsTable, top } from '../../src/features/overview/actions.ts';
import { screenLines, tableLines } from '../../src/cli/table.ts';
import { notYetRead } from '../../src/cli/target-reader.ts';
import { headLine } from '../../src/features/rollouts/actions-show.ts';
import { showUntilQuit } from '../../src/features/overview/screen.ts';
import { emptyDeployment, emptyResult, emptyRollout } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { type LiveLine, screenWidth } from '../../src/process/live-lines.ts';
import { installSignalHandlers } from '../../src/process/signals.ts';
import type { InFlight } from '../../src/starter.ts';
import { Keys, screenOf } from '../support/screen.ts';

const NOW = '2026-03-02T08:01:30.000Z';
const nowMs = Date.parse(NOW);
const KEY = '20261122-0106-k7f3q9xw';

function run(more: Partial<InFlight> = {}, lastStatus = 'building'): InFlight {
  const deployments = ['a1', 'a2'].map((id) => emptyDeployment(siteTarget(id)));
  const workflowId = `deploy:a1:${KEY}`;
  const result = emptyResult({ workflowId, phase: 'deploy', deployments, startedAt: '2026-03-02T08:00:00.000Z' });
  const read = { kind: 'deployment', try: 7, tries: 30, lastStatus, lastReadAt: null, nextReadAt: NOW } as const;
  const status = { result, waiting: read, contact: 'answers' } as const;
  return { workflowId, askedAt: NOW, needsAttention: false, kind: 'run', status, ...more } as InFlight;
}

const textOf = (line: LiveLine): string => (typeof line === 'string' ? line : line.text);
const rowsOf = (it: InFlight[], width = Infinity) => inFlightTable({ inFlight: it }, nowMs, width).map(textOf);

test('a table has aligned columns, and cuts those that may be cut in their turn', () => {
  const columns = [{ title: 'A', cut: { to: 4, turn: 2 } }, { title: 'B' }, { title: 'C', cut: { to: 3, turn: 1 } }];
  const rows = [
    ['one', 'x', 'short'],
    ['部署中部署', 'yy', 'longer than that'],
  ];
  assert.deepEqual(tableLines(columns, rows, Infinity), [
    'A           B   C',
    'one         x   short',
    '部署中部署  yy  longer than that',
  ]);
  assert.deepEqual(tableLines(columns, rows, 24).at(-1), '部署中部署  yy  longer …');
  assert.deepEqual(tableLines(columns, rows, 14).at(-1), '部署…  yy  lo…');
  assert.deepEqual(tableLines(columns, rows, 13).at(-1), '部…   yy  lo…');
  for (const width of [13, 18, 24, 40])
    for (const line of tableLines(columns, rows, width)) assert.ok(screenWidth(line) <= width, `${width}: ${line}`);
});

test('a screen shows the head, and how many rows there was no room for', () => {
  const table = ['TITLES', 'a', 'b', 'c'];
  assert.deepEqual(screenLines(['head'], table, 5), ['head', ...table]);
  assert.deepEqual(screenLines(['head'], table, 4), ['head', 'TITLES', 'a', '… 2 more']);
});

test('a row shows the id of a run, its age, phase, server and sites, and the sentence of what it waits for', () => {
  const now = 'deployment of a1: try 7 of 30, last status "building", next read in 0 s';
  assert.deepEqual(rowsOf([run()]), [
    `ID${' '.repeat(32)}AGE    PHASE   WHAT    NOW`,
    `deploy:a1:${KEY}  1 min  deploy  a1, a2  ${now}`,
  ]);
  // The key takes the place of the id, and then the least important columns are left out.
  assert.match(rowsOf([run()], 110)[0] ?? '', /^KEY {21}AGE {4}PHASE {3}WHAT {4}NOW$/);
  assert.match(rowsOf([run()], 100)[0] ?? '', /^KEY {21}AGE {4}WHAT {4}NOW$/);
  const [titles = '', row = ''] = rowsOf([run()], 90);
  assert.match(titles, /^KEY {21}WHAT {4}NOW$/);
  assert.ok(row.startsWith(`${KEY}  a1, a2  deployment of a1: try 7 of 30`), row);
  assert.ok(screenWidth(row) <= 90 && row.endsWith('…'), row);
});

test('a table leaves its least important columns out before it cuts any', () => {
  const columns = [
    { title: 'A', cut: { to: 4, turn: 2 } },
    { title: 'B', drop: 2 },
    { title: 'C', drop: 1 },
    { title: 'D', cut: { to: 3, turn: 1 }, wants: 5 },
  ];
  const rows = [['sites', 'bb', 'cc', 'more than it asks for']];
  const lineAt = (width: number) => tableLines(columns, rows, width).at(-1);
  assert.equal(lineAt(60), 'sites  bb  cc  more than it asks for');
  assert.equal(lineAt(20), 'sites  bb  cc  more…');
  assert.equal(lineAt(19), 'sites  bb  more th…');
  assert.equal(lineAt(15), 'sites  more th…');
  assert.equal(lineAt(10), 'sites  mo…');
});

test('what has ended follows what is in flight, with its outcome, when, and why', () => {
  const times = { startedAt: '2026-03-02T07:00:00.000Z', endedAt: '2026-03-02T07:56:30.000Z' };
  const error = { type: 'DeploymentFailed', message: 'boom' } as const;
  const deployments = [emptyDeployment(siteTarget('a7'))];
  const result = emptyResult({ workflowId: 'deploy:a7:k', outcome: 'failed', error, deployments, ...times });
  const rollout = emptyRollout({ workflowId: 'rollout:x:k', name: 'x', fleet: 'f', outcome: 'completed', ...times });
  const ended = [
    { kind: 'run', result },
    { kind: 'rollout', result: rollout },
  ] as const;
  const lines = inFlightTable({ inFlight: [run()], ended }, nowMs, Infinity).map(textOf);
  assert.match(lines[2] ?? '', /^deploy:a7:k +1 h +failed +a7 +ended 5 min ago: boom$/);
  assert.match(lines[3] ?? '', /^rollout:x:k +1 h +completed +rollout x of f +none; ended 5 min ago$/);
  const nothing = { inFlight: [], total: 0, complete: true };
  assert.equal(overviewLines(nothing, ended).at(-1), '2 ended, nothing in flight');
  assert.equal(overviewLines(nothing, ended).length, 4);
  assert.deepEqual((overviewDocument(nothing, ended) as { recent: object[] }).recent, [result, rollout]);
  assert.ok(!('recent' in overviewDocument(nothing)));
});

test('a run that waits for people is on the same server as once it runs', () => {
  const waitsAs = (workflowId: string) => {
    const [, row = ''] = rowsOf([
      run({
        workflowId,
        status: { result: { ...run().status.result, workflowId }, waiting: null, contact: 'answers' },
      } as Partial<InFlight>),
    ]);
    return row;
  };
  assert.match(waitsAs('backup-then-deploy:12:k'), / server 12: a1, a2 /);
  assert.match(waitsAs('backup-then-deploy:a%2Fb:k'), / server a\/b: a1, a2 /);
  for (const other of [
    'deploy:34:k',
    'backup-then-deploy:%:k',
    `backup-then-deploy:${'x'.repeat(116)}:${'0'.repeat(64)}`,
  ])
    assert.doesNotMatch(waitsAs(other), / server /);
});

test('the line of a rollout in a log says what people have to approve, and the command that does it', () => {
  const asked = [{ name: 'production', need: 2, by: ['ana'], from: null, proof: 'ssh' as const }];
  const waiting = {
    kind: 'approval' as const,
    workflowId: 'rollout:steady:k',
    plan: '9f2c1ab4d0e17788',
    asked,
    since: NOW,
    until: NOW,
  };
  const result = emptyRollout({ name: 'steady', fleet: 'shop', phase: 'approval' });
  const line = headLine({ result, waiting, contact: 'answers' });
  assert.match(
    line,
    /waits for 1 more of 2 approvals \(production\) until \S+Z: `belay approve rollout:steady:k --plan 9f2c1ab4d0e1`$/,
  );
});

test('a row of a rollout shows what it waits for, and how its servers ended', () => {
  const result = { ...emptyRollout({ name: 'steady', fleet: 'shop', phase: 'running' }), startedAt: NOW };
  result.servers.failed = 1;
  const waiting = { kind: 'servers', running: ['s1'], pending: 5, maxAtOnce: 1 } as const;
  const rollout = (status: object) =>
    ({ ...run(), workflowId: 'rollout:steady:k', kind: 'rollout', status: { result, ...status } }) as InFlight;
  const [, row = ''] = rowsOf([rollout({ waiting, contact: 'answers' })]);
  assert.match(
    row,
    / {2}0 s {2}running {2}rollout steady of shop {2}1 of at most 1 server running \("s1"\), 5 pending; ended: 1 failed$/,
  );
  assert.match(rowsOf([rollout({ waiting: null, contact: 'silent' })])[1] ?? '', /no worker answers for the rollout: /);
});

test('text from outside brings neither control characters nor line ends into a row', () => {
  const hostile = run({ workflowId: 'deploy:\u001b[2J\u202ea1:k' }, 'a\u0007\nb\u009b2J');
  const reading = { ...READING, status: '\u001b]0;x\u0007', problem: 'x\r\ny' };
  for (const line of [...rowsOf([hostile]), ...targetsTable([reading], nowMs, Infinity).map(textOf)]) {
    // eslint-disable-next-line no-control-regex -- the test asserts that there are none
    assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
  }
});

test('only what needs attention is painted, and a snapshot counts it', () => {
  const urgent = run({ needsAttention: true });
  const lines = inFlightTable({ inFlight: [urgent, run()] }, nowMs, Infinity);
  assert.deepEqual(
    lines.map((line) => typeof line),
    ['object', 'object', 'string'],
  );
  assert.equal(overviewText({ inFlight: [urgent, run()], total: 2, complete: true }), '2 in flight, 1 needs attention');
  assert.equal(
    overviewText({ inFlight: [run()], total: 3, complete: true }),
    '3 in flight; 1 shown, use a higher --limit to see more',
  );
  assert.deepEqual(overviewLines({ inFlight: [], total: 0, complete: true }), ['nothing in flight']);
});

test('the document has the result of each, what it waits for, and why it needs attention', () => {
  const silent = run({ needsAttention: true });
  const document = overviewDocument({
    inFlight: [run(), { ...silent, status: { ...silent.status, waiting: null, contact: 'silent' } } as InFlight],
    total: 2,
    complete: true,
  }) as { runs: Record<string, unknown>[] };
  const [first, second] = document.runs;
  assert.deepEqual([first?.workflowId, first?.contact, first?.needsAttention], [`deploy:a1:${KEY}`, 'answers', false]);
  assert.equal(first?.why, `deployment of a1: try 7 of 30, last status "building", next read at ${NOW}`);
  assert.match(String(second?.why), /^no worker answers for the run/);
});

const READING = {
  target: siteTarget('a1'),
  status: 'building',
  state: 'in_progress' as const,
  since: NOW,
  readAt: NOW,
  isMissing: false,
  problem: null,
};

test('a row of a site is painted by what its status means, and red if its read failed', () => {
  const states = ['completed', 'failed', 'in_progress'] as const;
  const readings = [...states.map((state) => ({ ...READING, state })), { ...READING, problem: '500' }];
  const [, ...lines] = targetsTable(readings, nowMs, Infinity);
  assert.deepEqual(
    lines.map((line) => typeof line === 'object' && line.paint),
    [colors.green, colors.red, String, colors.red],
  );
});

test('a row of a site shows its status, since when, and why the last read failed', () => {
  const seen = '2026-03-02T07:59:30.000Z';
  const lines = targetsTable(
    [
      { ...READING, since: seen },
      { ...READING, since: READING.readAt },
      { ...notYetRead({ kind: 'app', id: '7' }), problem: '401 Unauthorized' },
    ],
    nowMs,
    Infinity,
  );
  assert.deepEqual(lines.map(textOf), [
    'TARGET  STATUS    FOR    READ     PROBLEM',
    'a1      building  2 min  0 s ago',
    'a1      building  –      0 s ago',
    'app 7   –         –      –        401 Unauthorized',
  ]);
});

test('a fleet with the name of a property of every object is not in belay.yaml', async () => {
  const before = process.env.BELAY_CONFIG;
  const file = join(await mkdtemp(join(tmpdir(), 'belay-test-')), 'belay.yaml');
  await writeFile(file, 'fleets: { shop: { servers: { s1: { sites: [a1] } } } }\n');
  process.env.BELAY_CONFIG = file;
  try {
    await assert.rejects(top({ fleet: 'constructor' }), /fleet constructor is not in belay\.yaml: fleets: lists shop/);
  } finally {
    if (before === undefined) delete process.env.BELAY_CONFIG;
    else process.env.BELAY_CONFIG = before;
  }
});

const ENDS: [how: string, end: (input: Keys) => void, exitCode: number][] = [
  ['q exits 0', (input) => input.press('q'), 0],
  ['Ctrl-C exits 130', (input) => input.press('\u0003'), 130],
  ['SIGTERM exits 143', () => process.emit('SIGTERM'), 143],
  ['a terminal that is gone exits 0', (input) => input.emit('end'), 0],
];
for (const [how, end, exitCode] of ENDS) {
  test(`a screen is shown until it is quit: ${how}, and the terminal is as it was`, async () => {
    if (process.listenerCount('SIGTERM') === 0) installSignalHandlers();
    const { stream: output, rows } = screenOf();
    const input = new Keys();
    const shown = showUntilQuit(() => ['a line'], { output, input: input.stream });
    assert.ok(input.isRaw);
    input.press('x');
    await new Promise(setImmediate);
    assert.deepEqual(rows(), ['a line']);
    end(input);
    assert.equal(await shown, exitCode);
    assert.ok(!input.isRaw);
    assert.equal(input.listenerCount('data'), 0);
    assert.deepEqual(rows(), ['a line', '']);
  });
}

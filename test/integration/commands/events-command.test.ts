import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { EVENT_TYPE } from '../../../src/contract/names.ts';
import type { RunResult } from '../../../src/contract/run.ts';
import type { EventInput, ServiceEvent } from '../../../src/features/events/shapes.ts';
import type { ReceivedEvent } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startDev, type Dev, type Finished } from '../../support/processes.ts';
import { pathWithTemporal, tempFolder } from '../../support/temporal.ts';

/** Describes a panel whose bodies have no likely names. */
const BELAY_YAML = `
events:
  sources:
    panel:
      verify: none
      idHeader: x-delivery
      fields:
        kind: meta.what
        server: subject.machine
        site: 'subject.pages[0].name'
        backup: subject.copy\\.no
        time: meta.when
      kinds:
        backup.failed: [copy went wrong]
  reactions:
    backup.failed: [notify]
`;

const BODY = {
  meta: { what: 'Copy went wrong', when: 1_800_000_000 },
  subject: { machine: 12, pages: [{ name: 'shop' }], 'copy.no': '9007199254740993', password: 'hunter2' },
  note: 'login with Bearer abcdefgh',
};
const MEANT: ServiceEvent = {
  ...{ kind: 'backup.failed', rawKind: 'Copy went wrong' },
  ...{ serverId: '12', siteId: 'shop', backupId: '9007199254740993', at: '2027-01-15T08:00:00.000Z' },
};
const PATHS = [
  ...['meta.what  string', 'meta.when  number', 'subject.machine  number', 'subject.pages[0].name  string'],
  ...['subject.copy\\.no  string', 'subject.password  string', 'note  string'],
];
/** The event that BODY makes at the receiver. */
const EVENT = 'event:panel:d1';
const BY_HAND = 'by-hand';
/** Only the first two reads of an operation, and those that events cause, come in time. */
const RARELY = ['--backup-interval', '10m', '--deploy-interval', '10m'];

interface Place {
  dev: Dev;
  /** What `belay run` printed. */
  ran: RunResult;
  belay: (...args: string[]) => Promise<Finished>;
  list: (...args: string[]) => Promise<ReceivedEvent[]>;
}

/** While it starts, the tests that need no running stack go first. */
let place: Promise<Place>;
/** A dev that knows the panel, after a workflow that a person started, a run and a delivery. */
async function startPlace(): Promise<Place> {
  const BELAY_CONFIG = await fileWith(BELAY_YAML, 'belay.yaml');
  const env = { BELAY_HOME: await tempFolder(), BELAY_CONFIG };
  const dev = await startDev({ ...env, PATH: await pathWithTemporal() });
  const belay = (...args: string[]) => runInProcess(args, env);
  const list = async (...args: string[]) => {
    const { code, json } = await belay('events', ...args, '--json');
    const { events, error, schemaVersion } = json() as unknown as RunResult & { events: ReceivedEvent[] };
    assert.deepEqual([code, error, schemaVersion], [0, null, 1]);
    return events;
  };
  await startByHand(dev.ready.temporal);
  const { code, stderr, json } = await belay('run', '--server', 's1', '--site', 'a1', ...RARELY, '--json');
  assert.equal(code, 0, stderr);
  // The run may have ended before its last events arrive, and lists of Temporal lag behind.
  await eventually('the events of the run in the list', async () => (await list()).length === 4);
  const headers = { 'content-type': 'application/json', 'x-delivery': 'd1' };
  const request = { method: 'POST', headers, body: JSON.stringify(BODY) };
  // Temporal may be slow to store it. Then a sender tries again.
  const deliver = async () => (await fetch(`${dev.ready.webhooks}/webhooks/panel`, request)).ok;
  await eventually('the delivery', deliver);
  await eventually('all five in the list', async () => (await list()).length === 5);
  return { dev, ran: json(), belay, list };
}

async function startByHand(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  await workflow.start(EVENT_TYPE, { workflowId: BY_HAND, taskQueue: 'none', args: [{}] });
  const listed = () => workflow.count(`WorkflowId = "${BY_HAND}"`);
  await eventually('it in the index of Temporal', async () => (await listed()).count === 1);
  await connection.close();
}

async function fileWith(text: string, name = 'body.json'): Promise<string> {
  const path = join(await tempFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Needs no running stack. */
async function explain(body: unknown, yaml: string, ...args: string[]): Promise<Finished> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const BELAY_CONFIG = await fileWith(yaml, 'belay.yaml');
  return runInProcess(['events', 'explain', await fileWith(text), ...args], { BELAY_CONFIG });
}

const saying = (events: ReceivedEvent[]) => events.map(({ event }) => event.rawKind);

describe('belay events', { concurrency: 6 }, () => {
  before(() => {
    place = startPlace();
    place.catch(() => undefined);
  });

  test('explain maps a body by likely names if nothing is configured', async () => {
    const body = { event: 'alert-firing', data: { server: { id: 7 }, occurred_at: '2026-01-02T03:04:05+01:00' } };
    const { code, stdout } = await explain(body, '');
    const lines = [
      'alert.fired: the sender calls it "alert-firing"',
      'names server 7',
      'happened at 2026-01-02T02:04:05.000Z',
    ];
    const paths = ['  event  string', '  data.server.id  number', '  data.occurred_at  string'];
    const about = 'paths, for events.sources.<name>.fields in belay.yaml:';
    assert.deepEqual([code, stdout], [0, [...lines, 'reactions: hold, notify', about, ...paths, ''].join('\n')]);
  });

  test('explain maps a body by the fields of its source, and prints no secret', async () => {
    const { code, stdout } = await explain(BODY, BELAY_YAML, '--source', 'panel');
    assert.equal(code, 0);
    assert.match(stdout, /^backup\.failed: .*\nnames server 12, site shop, backup 9007199254740993\nhappened at 2027/);
    assert.match(stdout, /\nreactions: notify\n/);
    const other = await explain(BODY, BELAY_YAML);
    assert.match(other.stdout, /^unknown: the body names no kind\nnames no server, .*\nreactions: none of its own: /);
    assert.doesNotMatch(stdout + other.stdout, /hunter2|abcdefgh/);
  });

  test('explain calls a kind that Belay does not react to by the name that the sender gives it', async () => {
    const { stdout } = await explain({ event: 'site.renamed', site_id: 34 }, '');
    assert.match(
      stdout,
      /^site\.renamed: no kind that Belay knows; events\.kinds in belay\.yaml .*\nnames site 34\nreactions: none of its own: the event only wakes what/,
    );
  });

  test('explain lists only the reactions that an unverified source can cause', async () => {
    const yaml = 'events: { sources: { open: { verify: none } } }';
    const { stdout } = await explain({ event: 'alert.fired', server_id: 7 }, yaml, '--source', 'open');
    assert.match(stdout, /\nreactions: notify\n/);
  });

  test('explain prints why no run would use the backup that a body names', async () => {
    const body = { type: 'backup.started', server_id: 12, backup_id: 77 };
    const needs = "fields.server, fields.backup and the sender's word in kinds['backup.started']";
    const guessed = await explain(body, '');
    assert.ok(
      guessed.stdout.includes(` what it names\nshare is off: it needs the source's ${needs}\n`),
      guessed.stdout,
    );
    const mapping = `fields: { server: server_id, backup: backup_id }, kinds: { backup.started: [backup.started] }`;
    const yaml = `events: { sources: { panel: { verify: standard-webhooks, secrets: [{ env: S }], ${mapping} } } }`;
    const mapped = await explain(body, yaml, '--source', 'panel');
    assert.match(mapped.stdout, /\nreactions: share\npaths/);
  });

  test('explain prints one JSON document with --json', async () => {
    const { code, stdout } = await explain(BODY, BELAY_YAML, '--source', 'panel', '--json');
    const told = { schemaVersion: 1, service: null, event: MEANT, reactions: ['notify'], shape: PATHS, error: null };
    assert.deepEqual([code, JSON.parse(stdout)], [0, told]);
  });

  test('explain exits 2 with Usage for a malformed body, a missing file and an unknown source', async () => {
    for (const [ended, message] of [
      [explain('{"a": ', '', '--json'), /body\.json is not a JSON object/],
      [
        explain(BODY, BELAY_YAML, '--source', 'other', '--json'),
        /--source other: belay\.yaml has no events\.sources\.o/,
      ],
      [
        runInProcess(['events', 'explain', '/tmp/none.json', '--json']),
        /\/tmp\/none\.json cannot be read \(ENOENT\): create it, or correct the path/,
      ],
    ] as const) {
      const { code, json } = await ended;
      assert.deepEqual([code, json().error?.type], [2, 'Usage']);
      assert.match(json().error?.message ?? '', message);
    }
  });

  test('explain rejects the name of an inherited property as a source', async () => {
    const { code, stderr } = await explain(BODY, BELAY_YAML, '--source', 'toString');
    assert.deepEqual(
      [code, stderr],
      [2, 'belay: --source toString: belay.yaml has no events.sources.toString: it has panel\n'],
    );
  });

  test('explain reports a malformed field path with its line in belay.yaml', async () => {
    const yaml = BELAY_YAML.replace('subject.machine', '"subject[machine]"');
    const { code, stderr } = await explain(BODY, yaml, '--source', 'panel');
    assert.equal(code, 2, stderr);
    assert.match(stderr, /belay\.yaml:9: events\.sources\.panel\.fields\.server: /);
  });

  test('dev prints the address of its webhook receiver, which is healthy and ready', async () => {
    const { dev } = await place;
    assert.match(dev.ready.webhooks ?? '', /^http:\/\/127\.0\.0\.1:\d+$/);
    for (const path of ['healthz', 'readyz']) {
      const response = await eventually(path, async () => {
        const answer = await fetch(`${dev.ready.webhooks}/${path}`);
        return answer.ok && answer;
      });
      assert.deepEqual([response.status, await response.json()], [200, { status: 'ok' }], path);
    }
  });

  test('dev without a service starts the sandbox', async () => {
    const { dev, ran } = await place;
    assert.deepEqual([ran.outcome, ran.service], ['completed', dev.ready.service]);
  });

  test('a run in dev needs few reads because the sandbox sends webhooks', async () => {
    const { ran } = await place;
    assert.equal(ran.outcome, 'completed');
    const polls = [ran.backup?.polls ?? 99, ran.deployments[0]?.polls ?? 99];
    // A baseline, two early reads, and two for each of two events.
    assert.ok(polls[0]! <= 6 && polls[1]! <= 7, polls.join());
  });

  test('lists the received events, newest first', async () => {
    const events = await (await place).list();
    const [newest, ...ofRun] = saying(events);
    assert.equal(newest, 'Copy went wrong');
    // Deliveries may overtake each other.
    const kinds = ['backup.completed', 'backup.started', 'deployment.completed', 'deployment.started'];
    assert.deepEqual(ofRun.toSorted(), kinds);
    const receivedAt = events.map((it) => it.receivedAt);
    assert.deepEqual(receivedAt, receivedAt.toSorted().toReversed());
    assert.deepEqual(events[0]?.event, MEANT);
    assert.deepEqual([events[0]?.workflowId, events[0]?.source, events[0]?.verified], [EVENT, 'panel', false]);
    assert.deepEqual([events[1]?.source, events[1]?.verified], ['sandbox', true]);
  });

  test('prints one line per event, or that there are none', async () => {
    const { belay } = await place;
    const { code, stdout } = await belay('events');
    assert.equal(code, 0);
    const named = 'server 12, site shop, backup 9007199254740993';
    assert.match(stdout, new RegExp(`^\\S+Z {2}backup\\.failed {9}${EVENT} {2}${named} {2}not verified\n`));
    assert.match(stdout, /T[\d:]+Z {2}deployment\.completed {2}event:sandbox:msg_\S+ {2}site a1\n/);
    assert.equal(stdout.split('\n').length, 5 + 1);
    assert.equal((await belay('events', '--since', '1ms', '--limit', '1')).stdout, 'no events\n');
  });

  test('lists at most --limit events, and none older than --since', async () => {
    const { list } = await place;
    assert.deepEqual(await list('--limit', '2', '--since', '1h'), (await list()).slice(0, 2));
    assert.deepEqual(await list('--since', '1ms'), []);
  });

  test('show prints how an event was interpreted, its redacted body and the paths in it', async () => {
    const { code, stdout } = await (await place).belay('events', 'show', EVENT);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^backup\.failed: the sender calls it "Copy went wrong"\nnames server 12, site shop, backup 90/,
    );
    assert.match(
      stdout,
      /\nreactions: notify\nreceived \S+Z from panel, not verified\nof the service http:\S+\nbody, redacted:\n{\n/,
    );
    assert.match(stdout, /"password": "\[redacted\]"[^]*"note": "login with \[redacted\]"/);
    assert.ok(stdout.endsWith(`:\n${PATHS.map((path) => `  ${path}\n`).join('')}`), stdout);
    assert.doesNotMatch(stdout, /hunter2|abcdefgh/);
  });

  test('show prints one JSON document with --json', async () => {
    const { code, stdout } = await (await place).belay('events', 'show', EVENT, '--json');
    const { event, shape, error } = JSON.parse(stdout) as { event: EventInput; shape: string[]; error: null };
    assert.deepEqual([code, error, shape, event.event], [0, null, PATHS, MEANT]);
    const { subject, note } = event.body as typeof BODY;
    assert.deepEqual([subject.password, subject.machine, note], ['[redacted]', 12, 'login with [redacted]']);
  });

  test('show exits 2 with NotFound for a run and for an unknown id', async () => {
    const { belay, ran } = await place;
    for (const id of [String(ran.workflowId), 'event:panel:nobody']) {
      const { code, json } = await belay('events', 'show', id, '--json');
      assert.deepEqual([code, json().error?.type], [2, 'NotFound'], id);
    }
    const { code, stdout, stderr } = await belay('events', 'show', 'nobody');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^belay: .*nobody.*\n$/);
  });

  test('lists and shows nothing of what a person starts in the UI under the type of events', async () => {
    const { belay, list } = await place;
    assert.equal((await list()).length, 5);
    const { code, json } = await belay('events', 'show', BY_HAND, '--json');
    assert.deepEqual([code, json().error?.type], [2, 'NotFound']);
  });
});

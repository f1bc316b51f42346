/**
 * `npm run histories` plays every scenario on a real Temporal server, with the workers and the bundle of the build, and
 * writes the histories of this version. `npm run histories -- NAME …` plays only these, and adds theirs. Those of a
 * released version are never recorded again.
 */
import { readFileSync } from 'node:fs';
import pMap from 'p-map';
import { VERSION } from '../../src/process/version.ts';
import { endAll } from '../support/at-end.ts';
import { writeHistories, type Recorded } from './kept.ts';
import type { Kept, Scenario } from './scenario.ts';
import { APPROVALS } from './scenarios/approvals.ts';
import { BACKUPS } from './scenarios/backups.ts';
import { DEPLOYMENTS } from './scenarios/deployments.ts';
import { CHECKS_AND_WATCHES } from './scenarios/checks.ts';
import { FLEETS } from './scenarios/fleets.ts';
import { FREEZES } from './scenarios/freezes.ts';
import { GATES } from './scenarios/gates.ts';
import { OUTAGES } from './scenarios/outages.ts';
import { QUEUES } from './scenarios/queues.ts';
import { REQUESTS_AND_READS } from './scenarios/requests.ts';
import { RUNS } from './scenarios/runs.ts';
import { STARTS } from './scenarios/starts.ts';
import { WAITS } from './scenarios/waits.ts';
import { openStage, type Stage } from './stage.ts';
import { messageOf } from '../../src/contract/safe-text.ts';

/** The sandbox and one worker have room for these. */
const AT_ONCE = { concurrency: 6 };
const ALL = [
  ...[RUNS, STARTS, QUEUES, DEPLOYMENTS, REQUESTS_AND_READS, CHECKS_AND_WATCHES, BACKUPS, FLEETS, WAITS].flat(),
  ...[FREEZES, GATES, APPROVALS, OUTAGES].flat(),
];
const asked = process.argv.slice(2);
const SCENARIOS = asked.length === 0 ? ALL : ALL.filter(({ name }) => asked.includes(name));

const recorded = new Map<string, Recorded>();

function refuseReleased(): void {
  const changes = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  if (!changes.includes(`\n## ${VERSION}`)) return;
  throw new Error(`${VERSION} is released: raise the version in package.json, so that its histories are added`);
}

const mistakes: string[] = [];

async function play(stage: Stage, { name, play }: Scenario): Promise<void> {
  try {
    const kept: [string, Recorded][] = [];
    for (const it of await play(stage)) kept.push(await record(stage, name, it));
    for (const [file, it] of kept) recorded.set(file, it);
  } catch (error) {
    mistakes.push(`${name}: ${messageOf(error)}`);
  }
}

/** @returns the name of its file, and what it contains */
async function record({ client }: Stage, name: string, { workflowId, runId }: Kept): Promise<[string, Recorded]> {
  const handle = client.workflow.getHandle(workflowId, runId ?? undefined);
  const { type, status } = await handle.describe();
  if (status.name === 'RUNNING') throw new Error(`${name}: ${workflowId} has not ended`);
  const file = `${type}.${name}`;
  if (recorded.has(file)) throw new Error(`${file} is recorded twice`);
  return [file, { workflowId, history: await handle.fetchHistory() }];
}

refuseReleased();
const unknown = asked.filter((name) => !ALL.some((it) => it.name === name));
if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}`);
const stage = await openStage();
const together = SCENARIOS.filter(({ alone }) => alone !== true);
// These mostly wait, so they begin first and take no one's place.
const long = Promise.all(together.filter(({ isLong }) => isLong === true).map((it) => play(stage, it)));
await pMap(
  together.filter(({ isLong }) => isLong !== true),
  (it) => play(stage, it),
  AT_ONCE,
);
await long;
for (const it of SCENARIOS.filter(({ alone }) => alone === true)) await play(stage, it);
await endAll();
if (mistakes.length === 0 || asked.length > 0) writeHistories(recorded, asked.length === 0);
process.stdout.write(`${[...mistakes, `${recorded.size} histories of ${VERSION}`].join('\n')}\n`);
process.exitCode = mistakes.length === 0 ? 0 : 1;

import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { freezeAhead } from '../../src/features/advice/actions-ahead.ts';
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';

const NOW = Date.parse('2026-12-18T12:00:00Z');
const ETA = { usuallyMs: 60_000, p95Ms: 120_000, n: 10, acceptedAt: null };
const SEASON = 'freezes: { season: { from: 2026-12-18T12:01, to: 2026-12-19T12:00, reason: the season } }';
const RUN = emptyResult({ phase: 'deploy', deployments: ['34', '35'].map((id) => emptyDeployment(siteTarget(id))) });

const before = process.env.BELAY_CONFIG;
afterEach(() => {
  if (before === undefined) delete process.env.BELAY_CONFIG;
  else process.env.BELAY_CONFIG = before;
});

async function ahead(yaml: string, run = RUN) {
  process.env.BELAY_CONFIG = join(await mkdtemp(join(tmpdir(), 'belay-test-')), 'belay.yaml');
  await writeFile(process.env.BELAY_CONFIG, yaml);
  return (await freezeAhead(run, ETA, NOW))?.by.name ?? null;
}

describe('a freeze ahead of a run', () => {
  test('is one that begins before its next deployment', async () => {
    assert.equal(await ahead(SEASON), 'season');
    assert.equal(await ahead(SEASON.replace('12:01', '12:03')), null);
  });

  test('is of no concern to the last deployment, which is in flight', async () => {
    assert.equal(await ahead(SEASON, { ...RUN, deployments: RUN.deployments.slice(1) }), null);
  });

  test('is not known if belay.yaml has a mistake, which hides no status', async () => {
    assert.equal(await ahead('freezes: 1'), null);
  });
});

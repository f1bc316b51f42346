import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runInProcess } from '../../support/in-process.ts';
import { tempFolder } from '../../support/temporal.ts';

const MISTAKE = 'fleets:\n  shop:\n    servrs: {}\n';

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(path, text);
  return path;
}

describe('belay init and belay config check', () => {
  test('init writes a file that check accepts, and replaces one only with --force', async () => {
    const path = join(await tempFolder(), 'belay.yaml');
    const env = { BELAY_CONFIG: path };
    const written = await runInProcess(['init'], env);
    assert.equal(written.code, 0);
    assert.match(written.stdout, /then check it: `npx belay-deploy config check`\n$/);
    const checked = await runInProcess(['config', 'check'], env);
    assert.deepEqual([checked.code, checked.stdout], [0, `${path} is valid\n`]);
    writeFileSync(path, 'service: https://panel.example\n');
    const again = await runInProcess(['init', '--json'], env);
    assert.deepEqual([again.code, again.json().error?.type], [2, 'Usage']);
    assert.match(again.json().error?.message ?? '', /is there already: --force replaces it/);
    assert.match(readFileSync(path, 'utf8'), /^service/);
    assert.equal((await runInProcess(['init', path, '--force'])).code, 0);
    assert.match(readFileSync(path, 'utf8'), /^## The configuration of Belay/);
  });

  test('check exits 2 with file, line and remedy of a mistake, and marks the line only in GitHub Actions', async () => {
    const path = await fileWith(MISTAKE);
    const plain = await runInProcess(['config', 'check', path]);
    const message = `${path}:3: fleets.shop.servrs: there is no such key (did you mean servers?); see docs/reference/belay-yaml.md`;
    assert.deepEqual([plain.code, plain.stdout, plain.stderr], [2, '', `belay: ${message}\n`]);
    const inJob = await runInProcess(['config', 'check', path, '--json'], { GITHUB_ACTIONS: 'true' });
    assert.equal(inJob.stderr, `::error file=${path},line=3::${message}\n`);
    assert.deepEqual(JSON.parse(inJob.stdout), {
      ...{ schemaVersion: 1, file: path, line: 3 },
      error: { type: 'Usage', message },
    });
  });

  test('check prints one document for a valid file and for a missing one, and needs neither Temporal nor a token', async () => {
    const path = await fileWith('service: https://panel.example\n');
    const good = await runInProcess(['config', 'check', path, '--json'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.equal(good.code, 0);
    assert.deepEqual(JSON.parse(good.stdout), { schemaVersion: 1, file: path, line: null, error: null });
    const missing = await runInProcess(['config', 'check', `${path}.none`, '--json']);
    assert.equal(missing.code, 2);
    assert.match(missing.json().error?.message ?? '', /cannot be read \(ENOENT\)/);
  });

  test('check of a missing file names a remedy for the way in which it was named, and marks no line of it', async () => {
    const path = `${await fileWith('')}.none`;
    const given = await runInProcess(['config', 'check', path], { GITHUB_ACTIONS: 'true' });
    assert.equal(given.code, 2);
    const problem = `${path} cannot be read (ENOENT)`;
    const message = `${problem}: name a file that exists and can be read`;
    assert.equal(given.stderr, `::error file=${path}::${message}\nbelay: ${message}\n`);
    const configured = await runInProcess(['config', 'check'], { BELAY_CONFIG: path });
    assert.equal(configured.stderr, `belay: ${problem}: set BELAY_CONFIG to the path of belay.yaml\n`);
    const unnamed = await runInProcess(['config', 'check'], { BELAY_CONFIG: '' });
    assert.match(
      unnamed.stderr,
      /^belay: belay.yaml cannot be read \(ENOENT\): `npx belay-deploy init` begins one, or set/,
    );
  });

  for (const args of [
    ['rollout', 'start', 'steady'],
    ['schedule', 'apply', '--dry-run'],
    ['gates', 'try', 'errors'],
    ['check', '--site', '34'],
    ['top', '--fleet', 'shop'],
  ]) {
    test(`${args.slice(0, 2).join(' ')} says that there is no belay.yaml instead of what it lacks`, async () => {
      const { code, stderr } = await runInProcess(args, { BELAY_CONFIG: '', TEMPORAL_ADDRESS: '127.0.0.1:1' });
      const problem = 'belay.yaml cannot be read (ENOENT)';
      const remedy = '`npx belay-deploy init` begins one, or set BELAY_CONFIG to the path of yours';
      assert.deepEqual([code, stderr], [2, `belay: ${problem}: ${remedy}\n`]);
    });
  }

  test('a mistake in a file cannot write a command of GitHub of its own', async () => {
    const path = await fileWith(`"x\\n::stop-commands::y, 100%": 1\n`);
    const { code, stderr } = await runInProcess(['config', 'check', path], { GITHUB_ACTIONS: 'true' });
    assert.equal(code, 2);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines.filter((line) => line.startsWith('::')).length, 1);
    assert.match(lines[0] ?? '', /^::error file=[^:]+,line=1::.*100%25/);
  });
});

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { runInProcess } from '../../support/in-process.ts';
import { tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';

const OURS = '3f2c1ab0d9e8f7a6';
const DOWN = { kind: 'status', code: 503 } as const;

let sandbox: Sandbox;
let env: Record<string, string>;

before(async () => {
  sandbox = await startSandbox({ token: TOKEN, defaults: { deployment: { durationMs: 0 } } });
  atEnd(() => sandbox.close());
  sandbox.script({ site: '34' }, { commit: OURS });
  sandbox.act({ site: '34' });
  const file = join(await tempFolder(), 'belay.yaml');
  await writeFile(file, configuration());
  env = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN, BELAY_CONFIG: file };
});

const configuration = () => `
sites:
  '34': { url: '${sandbox.url}/sites/34', check: answers, private: true }
  '35': { url: '${sandbox.url}/sites/35', private: true }
  '36': { url: 'https://169.254.169.254/latest', check: answers, private: true }
checks:
  answers: { path: /healthz, json: { status: ok }, commit: { json: commit } }
`;

describe('belay check', () => {
  const check = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInProcess(['check', ...args], env);
    return { code, text: stdout + stderr };
  };

  test('reads a site once, and names what it shows', async () => {
    const { code, text } = await check('--site', '34', '--commit', OURS.slice(0, 7));
    assert.equal(code, 0, text);
    assert.match(text, /answer: status 200, commit 3f2c1ab0d9e8f7a6\ngood: every expectation is met/);
  });

  test('exits 1 with the expectation that is not met', async () => {
    const other = await check('--site', '34', '--commit', 'bbbbbbb');
    assert.deepEqual([other.code, /bad: it does not show commit bbbbbbb/.test(other.text)], [1, true], other.text);
    sandbox.fault({ route: 'page', target: '34', answer: DOWN, times: 1 });
    const down = await check('--site', '34');
    assert.deepEqual([down.code, /bad: status 503, expected 2xx/.test(down.text)], [1, true], down.text);
  });

  test('exits 4 for an address that no check may reach', async () => {
    const { code, text } = await check('--site', '36');
    assert.deepEqual([code, /nothing: .*169\.254\.169\.254/.test(text)], [4, true], text);
  });

  test('reads the page also without the service, or with a token that it rejects, and says so', async () => {
    const whole = env;
    for (const [other, problem] of [
      [{ BELAY_API_TOKEN: 'another' }, /latest deployment: not read: [^\n]*401/],
      [{ BELAY_API_URL: '', BELAY_API_TOKEN: '' }, /latest deployment: not read: BELAY_API_URL is not set/],
    ] as const) {
      env = { ...whole, ...other };
      const { code, text } = await check('--site', '34');
      env = whole;
      assert.equal(code, 0, text);
      assert.match(text, problem);
      assert.match(text, /good: every expectation is met/);
    }
    const { text } = await check('--site', '34', '--json');
    const { latestDeployment, latestProblem } = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual([latestDeployment, latestProblem], ['completed', null]);
  });

  test('exits 2 for a site without a check', async () => {
    const { code, text } = await check('--site', '35');
    assert.deepEqual([code, /site 35 has no check/.test(text)], [2, true], text);
  });
});

/** docs/reference/sandbox.md and the tutorial, against the code and a sandbox. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { CONTROL_BODIES, formOf, type ControlName } from '../../src/sandbox/control-routes.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { atEnd } from '../support/at-end.ts';

const textOf = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

const NAMES = Object.keys(CONTROL_BODIES) as ControlName[];
/** By their headings. */
const SECTIONS = new Map(
  textOf('reference/sandbox.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox({ token: 'any', defaults: { deployment: { durationMs: 0 } } });
  atEnd(() => sandbox.close());
});

async function send(path: string, body: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${sandbox.url}/sandbox/${path}`, { method: 'POST', headers, body });
  return `${response.status} ${await response.text()}`.trim();
}

test('the page about the sandbox lists each control, and no other', () => {
  assert.deepEqual([...SECTIONS.keys()], [...NAMES, 'What happened']);
});

describe('each control of the sandbox', () => {
  for (const name of NAMES) {
    const section = SECTIONS.get(name) ?? '';

    test(`${name} is documented with all its keys`, () => {
      assert.ok(section.includes(`\n\`${formOf(name)}\`\n`), `write the form of its body: ${formOf(name)}`);
      const words = new Set([...formOf(name).matchAll(/\w+(?=[?:,}])/g)].map(([word]) => word));
      const explained = section.replaceAll(/^`.*`$|^sandbox .*$/gm, '');
      assert.deepEqual(
        [...words].filter((word) => !explained.includes(`\`${word}\``)),
        [],
        'keys without an explanation',
      );
    });

    test(`${name} has examples that a sandbox accepts`, async () => {
      const examples = [...section.matchAll(/^sandbox (\S+) '(.+)'$/gm)];
      assert.ok(examples.length > 0);
      // There has to be something to finish, and no receiver of the machine gets a webhook.
      sandbox.act({ site: 'a1' });
      for (const [, path = '', body = ''] of examples) {
        assert.equal(path, name);
        assert.equal(await send(path, body.replace(':4181/', ':9/')), '204');
      }
    });
  }
});

test('the tutorial lets one deployment fail, and the next one completes', async () => {
  const tutorial = textOf('tutorials/first-run.md');
  const [, body = ''] =
    /^curl .*Content-Type: application\/json.*\\\n.*\/sandbox\/scripts -d '(.+)'$/m.exec(tutorial) ?? [];
  const own = await startSandbox({ token: 'any', defaults: { deployment: { durationMs: 0 } } });
  atEnd(() => own.close());
  const headers = { 'Content-Type': 'application/json' };
  assert.equal((await fetch(`${own.url}/sandbox/scripts`, { method: 'POST', headers, body })).status, 204);
  const statuses: unknown[] = [];
  for (let n = 1; n <= 3; n += 1) {
    own.act({ site: 'a1' });
    const latest = `${own.url}/v1/sites/a1/deployments/latest`;
    const response = await fetch(latest, { headers: { Authorization: 'Bearer any' } });
    statuses.push(await response.json());
  }
  assert.deepEqual(statuses, [{ status: 'failed' }, { status: 'completed' }, { status: 'completed' }]);
});

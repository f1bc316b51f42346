import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { runInProcess } from '../../support/in-process.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { SECRET } from '../../support/receiver.ts';
import { tempFolder } from '../../support/temporal.ts';

const NEW_SECRET = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
const BAD_SECRET = 'whsec_no-base64!';

const panel = (secret: string) =>
  `events: { sources: { panel: { verify: standard-webhooks, secrets: [{ ${secret} }] } } }`;

let listening: LiteralService;
before(async () => {
  listening = await literalService((_request, response) => void response.end());
});

describe('belay webhooks', () => {
  const everywhere = ['--host', '0.0.0.0'];
  const noVerifier = 'events: { sources: { open: { verify: none } } }';
  const TAKEN = 'taken';
  const refusals: [string, yaml: string, args: string[], RegExp][] = [
    ['unverified senders without sources', '', [], /without events.sources in belay.yaml: .* with --unverified/],
    ['an open source', noVerifier, [], /sources.open has verify: none: see docs.reference.events.md, .* --unverified/],
    ['an open source on other hosts', noVerifier, everywhere, /sources.open has verify: none: .* --unverified/],
    [
      'other hosts without sources',
      '',
      [...everywhere, '--unverified'],
      /--host 0.0.0.0: senders cannot be verified without events.sources in belay.yaml: .*listen on 127.0.0.1/,
    ],
    [
      'other hosts with an open source',
      noVerifier,
      [...everywhere, '--unverified'],
      /--host 0.0.0.0: events.sources.open has verify: none: see docs.reference.events.md, or listen on 127/,
    ],
    ['a foreign address', panel('env: PANEL_SECRET'), ['--host', '192.0.2.1'], /this machine has no such address/],
    ['a port that is taken', '', ['--unverified', '--port', TAKEN], /port \d+ is in use: choose another one/],
    ['a missing file', panel('file: /nowhere'), [], /panel.secrets.0: .nowhere cannot be read .ENOENT/],
    ['a variable that is not set', panel('env: NONE'), [], /panel.secrets.0: the variable NONE is not set/],
    ['a malformed secret', panel('env: BAD'), [], /panel.secrets.0: not a Standard Webhooks secret: use/],
    ['a secret in belay.yaml', panel(`value: ${NEW_SECRET}`), [], /belay.yaml:1: .*write { file: PATH } or { env: N/],
  ];
  for (const [what, yaml, args, message] of refusals) {
    test(`refuses ${what} with exit code 2 and a remedy`, async () => {
      const given = args.map((arg) => (arg === TAKEN ? new URL(listening.url).port : arg));
      const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
      writeFileSync(BELAY_CONFIG, yaml);
      const env = { BELAY_CONFIG, TEMPORAL_ADDRESS: '127.0.0.1:1', PANEL_SECRET: SECRET, BAD: BAD_SECRET };
      const { code, stdout, stderr } = await runInProcess(
        ['webhooks', ...(given.includes('--port') ? [] : ['--port', '0']), ...given],
        env,
      );
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
      assert.ok(!stderr.includes(NEW_SECRET) && !stderr.includes(BAD_SECRET));
    });
  }
});

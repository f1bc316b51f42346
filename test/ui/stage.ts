/** What the UI shows: a Temporal server, the sandbox, a worker with a belay.yaml, and both UIs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { connect, type Belay } from '../../src/starter.ts';
import { atEnd } from '../support/at-end.ts';
import { connectTo } from '../support/connect.ts';
import { startWorkerProcess } from '../support/processes.ts';
import { childEnvironment } from '../../src/config/environment/environment.ts';
import { startTemporal, tempFolder } from '../support/temporal.ts';
import { temporalEnv, TOKEN } from '../support/world.ts';
import { RESET_DISABLED, startShippedUi } from './shipped-ui.ts';

export const UIS = ['of the embedded server', 'of docker-compose.yml'] as const;
export type UiName = (typeof UIS)[number];

export const STARTER = 'release-job@ci';

const configuration = (sandboxUrl: string) => `
freezes:
  stocktaking:
    from: 2026-01-01T00:00
    to: 2099-01-01T00:00
    for: { sites: [f1] }
    reason: the shop counts its stock
approvals:
  production: { need: 2, proof: none, for: { sites: [p1] } }
sites:
  c1: { url: '${sandboxUrl}/sites/c1', check: shop, private: true }
checks:
  shop: { path: /healthz, commit: { json: commit }, interval: 1s, tries: 5 }
`;

export interface Stage {
  belay: Belay;
  sandbox: Sandbox;
  uiUrls: Record<UiName, string>;
}

let opened: Promise<Stage> | undefined;

/** One for all tests, so their sites and servers differ. */
export const stage = (): Promise<Stage> => (opened ??= open());

async function open(): Promise<Stage> {
  // The embedded UI gets the setting, too, but has no way to read it.
  const { address, uiUrl } = await startTemporal({ env: { ...childEnvironment(), ...RESET_DISABLED } });
  const place = { address, namespace: 'default' };
  const shipped = await startShippedUi(address);
  const sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  const config = join(await tempFolder(), 'belay.yaml');
  await writeFile(config, configuration(sandbox.url));
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  await startWorkerProcess({ ...temporalEnv(place), ...service, BELAY_CONFIG: config });
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const belay = await connect({ connection, ...place, by: STARTER });
  return { belay, sandbox, uiUrls: { 'of the embedded server': uiUrl, 'of docker-compose.yml': shipped } };
}

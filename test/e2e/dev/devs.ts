/** Devs are expensive, so all tests of them share these. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { once } from '../../support/once.ts';
import { startDev, type Dev } from '../../support/processes.ts';
import { pathWithTemporal, tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';

export type Home = Record<'BELAY_HOME', string>;
export const newHome = async (): Promise<Home> => ({ BELAY_HOME: await tempFolder() });

export interface Devs {
  /** Has the sandbox of the tests as its service. */
  served: { dev: Dev; home: Home; sandbox: Sandbox };
  /** Two that started at once, without a service. The one that was refused has no Temporal server. */
  inOneFolder: { devs: [Dev, Dev]; env: Home & { BELAY_CONFIG: string; PATH: string } };
}

/** Describes a panel whose bodies have no likely names. */
export const BELAY_YAML = `
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

/** The address in the record of a dev that does not run. */
export const ABSENT = '127.0.0.1:1';

export const startedDevs = once(async (): Promise<Devs> => {
  const quick = { durationMs: 500 };
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: quick, deployment: quick } });
  atEnd(() => sandbox.close());
  const [home, shared] = [await newHome(), await newHome()];
  leaveRecord(home, process.pid, ABSENT);
  // The record of a killed dev makes no difference.
  leaveRecord(shared, 2 ** 22 + 1, 'x:1');
  const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
  writeFileSync(BELAY_CONFIG, BELAY_YAML);
  const PATH = await pathWithTemporal();
  const env = { ...shared, BELAY_CONFIG, PATH };
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  const [dev, ...devs] = await Promise.all([startDev({ ...home, ...service, PATH }), startDev(env), startDev(env)]);
  return { served: { dev, home, sandbox }, inOneFolder: { devs, env } };
});

/** That which needs no service, of the two in one folder. */
export const devOfFolder = ({ inOneFolder: { devs } }: Devs): Dev => devs.find(({ ready }) => 'temporal' in ready)!;

/** What a dev that was killed leaves behind. */
const leaveRecord = ({ BELAY_HOME }: Home, pid: number, temporal: string) =>
  writeFileSync(join(BELAY_HOME, 'dev.json'), JSON.stringify({ pid, temporal, ui: null }));

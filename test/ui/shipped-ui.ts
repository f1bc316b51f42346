/** The Temporal UI of docker-compose.yml, built from its Go module and started with the settings of that file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { service } from '../support/compose.ts';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { goPrograms, type GoPrograms, type PinnedModule } from '../support/go-programs.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { environment } from '../support/processes.ts';

export const UI_MODULE: PinnedModule = {
  module: 'github.com/temporalio/ui-server/v2',
  folder: 'tools/temporal-ui',
  programs: { 'ui-server': 'cmd/server' },
};

const SETTINGS = service('temporal-ui').environment;
/** The setting of the compose file that disables Reset. */
export const RESET_DISABLED = { TEMPORAL_WORKFLOW_RESET_DISABLED: SETTINGS.TEMPORAL_WORKFLOW_RESET_DISABLED };

/** @throws MissingProgram without Go */
export const uiProgram = (): Promise<GoPrograms> =>
  goPrograms(UI_MODULE, (version) =>
    process.stdout.write(`building Temporal's UI ${version} with Go, once: about 2 minutes on 2 cores\n`),
  );

/** @returns its URL */
export async function startShippedUi(address: string): Promise<string> {
  const { folder, sourceFolder } = await uiProgram();
  const port = String(await lastingPort());
  const env = { ...SETTINGS, TEMPORAL_ADDRESS: address, TEMPORAL_UI_PORT: port };
  // As the image starts it.
  const child = spawn(join(folder, 'ui-server'), ['--root', sourceFolder, '--env', 'docker', 'start'], {
    env: environment(env),
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  atEnd(async () => {
    child.kill();
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually('the UI', () => {
    if (child.exitCode !== null) throw new Error(`the UI ended with ${child.exitCode}`);
    return fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return url;
}

/** Program `belay sandbox`: runs only the emulator of the hosting service, for experiments. */
import { unusable } from './config/environment/http-server.ts';
import { print } from './process/print.ts';
import { runUntilSignal } from './process/signals.ts';
import { startSandbox } from './sandbox/server.ts';

/** Not a secret: it only gives access to the emulator. */
const TOKEN = 'sandbox';

export async function runSandbox(options: { host: string; port: number }): Promise<void> {
  const sandbox = await startSandbox({ token: TOKEN, ...options }).catch((error: NodeJS.ErrnoException) => {
    throw unusable(error, options);
  });
  print(`ready: BELAY_API_URL=${sandbox.url} BELAY_API_TOKEN=${TOKEN}`);
  await runUntilSignal();
  await sandbox.close();
}

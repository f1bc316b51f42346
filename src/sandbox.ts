/** Program `belay sandbox`: runs only the emulator of the hosting service, for experiments. */
import { print } from './process/print.ts';
import { runUntilSignal } from './process/signals.ts';
import { startSandbox } from './sandbox/server.ts';

/** Not a secret: it only gives access to the emulator. */
const TOKEN = 'sandbox';

export async function runSandbox(options: { host: string; port: number }): Promise<void> {
  const sandbox = await startSandbox({ token: TOKEN, ...options });
  print(`ready: BELAY_API_URL=${sandbox.url} BELAY_API_TOKEN=${TOKEN}`);
  await runUntilSignal(new Promise<never>(() => undefined));
  await sandbox.close();
}

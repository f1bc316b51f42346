/** Program `belay sandbox`: the emulator of the hosting service alone, for trying things out. */
import { untilStopped } from './process/run-until-signal.ts';
import { startSandbox } from './sandbox/server.ts';

/** No secret: it opens an emulator. */
const TOKEN = 'sandbox';

export async function main(options: { host: string; port: number }): Promise<void> {
  const sandbox = await startSandbox({ token: TOKEN, ...options });
  process.stdout.write(`ready: BELAY_API_URL=${sandbox.url} BELAY_API_TOKEN=${TOKEN}\n`);
  await untilStopped(new Promise<never>(() => undefined));
  await sandbox.close();
}

/** Program `belay sandbox`: the emulator of the hosting service alone, for trying things out. Loopback only. */
import { untilStopped } from './until-stopped.ts';
import { startSandbox } from './sandbox/server.ts';

/** No secret: it opens an emulator on this machine. */
const TOKEN = 'sandbox';

export async function main({ port }: { port: number }): Promise<void> {
  const sandbox = await startSandbox({ token: TOKEN, port });
  process.stdout.write(`ready: BELAY_API_URL=${sandbox.url} BELAY_API_TOKEN=${TOKEN}\n`);
  await untilStopped(new Promise<never>(() => undefined));
  await sandbox.close();
}

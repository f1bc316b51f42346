/**
 * One Temporal server for many suites, each in its own namespace. The runner starts it for all test files. A file
 * that runs alone starts its own.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo } from './connect.ts';
import type { TemporalServer } from '../../src/dev/temporal-server.ts';
import { eventually } from './eventually.ts';
import { executableWith, startTemporal, tempFolder } from './temporal.ts';

/** The namespace of one suite. */
export interface Place {
  address: string;
  namespace: string;
  uiUrl: string;
}

const VARIABLE = 'BELAY_TEST_TEMPORAL';
/** More than a group of files needs; test/run.ts asks for as many as all of its groups do. */
const USUAL_NAMESPACES = 12;

interface Shared {
  address: string;
  uiUrl: string;
  namespaces: string[];
  /** Contains a folder for each namespace in use. */
  taken: string;
}

// Read at load time: a command that runs in this process has an environment of its own meanwhile.
let shared = process.env[VARIABLE] === undefined ? null : (JSON.parse(process.env[VARIABLE]) as Shared);
let ownServer: Promise<TemporalServer> | undefined;

/** Starts the server and passes its address to this process and its children. */
export async function startSharedTemporal(count = USUAL_NAMESPACES): Promise<TemporalServer> {
  const namespaces = Array.from({ length: count }, (_, index) => `suite-${index + 1}`);
  const executable = await executableWith(namespaces.flatMap((name) => ['--namespace', name]));
  const server = await startTemporal({ executable });
  const connection = await connectTo(server.address);
  for (const namespace of namespaces) {
    // A search uses more of the server than a description.
    await eventually(`namespace ${namespace}`, () =>
      connection.workflowService.countWorkflowExecutions({ namespace }).then(
        () => true,
        () => false,
      ),
    );
  }
  await connection.close();
  shared = { address: server.address, uiUrl: server.uiUrl, namespaces, taken: await tempFolder() };
  process.env[VARIABLE] = JSON.stringify(shared);
  return server;
}

/** A namespace that no other suite uses. */
export async function newPlace(): Promise<Place> {
  if (shared === null) await (ownServer ??= startSharedTemporal());
  const { address, uiUrl, namespaces, taken } = shared!;
  const namespace = namespaces.find((name) => isFirstToTake(join(taken, name)));
  if (namespace === undefined) throw new Error('every namespace is taken: add some to test/support/shared-temporal.ts');
  return { address, uiUrl, namespace };
}

/** Only one process can create a folder. */
function isFirstToTake(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

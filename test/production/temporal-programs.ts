/** Temporal's server and schema tool, built from the module that tools/temporal-server pins. */
import { join } from 'node:path';
import { goPrograms, pinnedVersion, type PinnedModule } from '../support/go-programs.ts';

const SERVER: PinnedModule = {
  module: 'go.temporal.io/server',
  folder: 'tools/temporal-server',
  programs: { 'temporal-server': 'cmd/server', 'temporal-sql-tool': 'cmd/tools/sql' },
};

export interface TemporalPrograms {
  version: string;
  /** Holds `temporal-server` and `temporal-sql-tool`. */
  folder: string;
  /** The SQL files, as the image of the admin tools has them under /etc/temporal/schema. */
  schemaFolder: string;
}

export const pinnedServer = (): string => pinnedVersion(SERVER);

/** @throws MissingProgram without Go, or with one that is too old */
export async function temporalPrograms(say: (line: string) => void): Promise<TemporalPrograms> {
  const { version, folder, sourceFolder } = await goPrograms(SERVER, (wanted) =>
    say(`building Temporal ${wanted} with Go, once: about 5 minutes on 2 cores`),
  );
  return { version, folder, schemaFolder: join(sourceFolder, 'schema') };
}

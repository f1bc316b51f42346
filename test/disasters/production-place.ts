/** Temporal on PostgreSQL, as docker-compose.yml has them. */
import { startPostgresql, type Postgresql } from '../production/postgresql.ts';
import { startTemporal } from '../production/temporal.ts';
import { temporalPrograms, type TemporalPrograms } from '../production/temporal-programs.ts';
import type { Place } from './stage.ts';

/** Built once for all that need them. */
let found: Promise<TemporalPrograms> | undefined;

/** @param prepare called with PostgreSQL's folder before there is data. @throws MissingProgram */
export async function productionPlace(
  prepare?: (home: string) => Promise<void>,
): Promise<{ place: Place; database: Postgresql }> {
  const programs = await (found ??= temporalPrograms((line) => void process.stdout.write(`${line}\n`)));
  const database = await startPostgresql(prepare);
  return { place: await startTemporal(database, programs), database };
}

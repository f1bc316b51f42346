/** Runs before the tests: builds stale output and a missing Temporal server, so that no test waits for them. */
import { readFileSync } from 'node:fs';
import { buildEnvironment, cacheFolder } from '../../src/config/environment/environment.ts';
import { downloadBySdk, findExecutable } from '../../src/dev/find-server.ts';
import { showBuild } from '../../src/dev/build-server.ts';
import type { TemporalServer } from '../../src/dev/temporal-server.ts';
import { bundleFromSource } from '../../src/worker/bundle/bundle-from-source.ts';
import { buildIfStale } from '../../tools/build.ts';
import { startSharedTemporal } from './shared-temporal.ts';
import { PROFILES, replacementFor } from './timing/substitute.ts';

export async function build(): Promise<void> {
  buildIfStale();
  // Test processes that start together would each bundle the same workflows.
  await bundleFromSource();
}

/**
 * @param files the tests that share it
 * @returns the server
 */
export async function startServer(namespaces: number, files: readonly string[]): Promise<TemporalServer> {
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  const isUsed = (profile: string) => texts.some((text) => text.includes(`/timing/use-${profile}.ts'`));
  // Each costs seconds of CPU time after a change of the workflows.
  for (const profile of PROFILES.filter(isUsed)) await bundleFromSource([replacementFor(profile)]);
  const progress = showBuild(process.stderr);
  await findExecutable({
    cacheFolder: cacheFolder(),
    env: buildEnvironment(),
    say: (line) => process.stderr.write(`${line}\n`),
    onBuild: (built) => progress.show(built),
    download: downloadBySdk,
  });
  progress.end();
  return startSharedTemporal(namespaces);
}

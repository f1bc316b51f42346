/** Workers of an image that cannot replay the runs in flight. The previous image takes them up again. */
import { cp, symlink, writeFile } from 'node:fs/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleFromSource } from '../../src/worker/bundle/bundle-from-source.ts';
import { superviseWorker } from '../model/workers.ts';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temporal.ts';
import { completedOnce, finish, inFlight, openStage } from './stage.ts';

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** The build, with workflows that begin with one more timer. @returns the path of its program */
async function brokenImage(): Promise<string> {
  const image = await tempFolder();
  await cp(path('dist'), join(image, 'dist'), { recursive: true });
  await cp(path('package.json'), join(image, 'package.json'));
  await symlink(path('node_modules'), join(image, 'node_modules'));
  const [from, to] = [path('src/workflows/cancellation.ts'), path('test/histories/one-more-timer.ts')];
  const bundle = await bundleFromSource([{ from, to }]);
  await writeFile(join(image, 'dist/workflow-bundle.js'), await readFile(bundle));
  return join(image, 'dist/cli.js');
}

export async function brokenWorkers(): Promise<string> {
  const stage = await openStage();
  const running = await stage.deploy(5);
  await inFlight(stage, running);
  const image = await brokenImage();
  let over = () => undefined as void;
  const rollback = new Promise<void>((resolve) => (over = resolve));
  const away = stage.worker.down('SIGTERM', rollback);
  const broken = superviseWorker(image, stage.env);
  atEnd(() => broken.close());
  await broken.ready();
  const failed = () =>
    stage.metric('temporal_workflow_task_execution_failed_total', 'failure_reason="NonDeterminismError"');
  await eventually('the alarm', async () => ((await failed()) ?? 0) > 0);
  await broken.close();
  over();
  await away;
  await stage.worker.ready();
  finish(stage, running);
  await completedOnce(stage, running);
  return `${running.length} runs went on once the previous image was back`;
}

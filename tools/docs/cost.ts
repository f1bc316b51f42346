/** docs/reference/cost.md, from the default run that the simulator plays. */
import { BACKUP_MS, DEPLOYMENT_MS, playDefaultRuns } from '../../test/sim/cost/default-run.ts';
import { CAUSES, type Cause, type Cost, type Costs } from '../../test/sim/cost/count-cost.ts';
import { planRun } from '../../src/request/run-options.ts';
import { code, page, table } from './markdown.ts';

export async function costPage(): Promise<string> {
  const { intervalMs } = planRun({}).backup;
  const [run, longer, pooled] = await playDefaultRuns([
    { backupMs: BACKUP_MS },
    { backupMs: BACKUP_MS + intervalMs },
    { backupMs: BACKUP_MS, waits: 'pooled' },
  ]);
  const { costs, requests, executions } = run!;
  const [whole, withRead] = [sumOf(costs), sumOf(longer!.costs)];
  return page(
    '# Cost of a run',
    `A run with the default options: a backup that takes ${BACKUP_MS / 60_000} minutes, then a deployment that takes` +
      ` ${DEPLOYMENT_MS / 60_000} minute. The namespace has the search attributes, nothing fails, no notification is` +
      ' configured, and its status is not queried. A test compares this page with what the workflows do.',
    '[Actions](https://docs.temporal.io/cloud/actions) are what Temporal Cloud bills.',
    costTable(costs),
    table(
      ['workflow', 'events'],
      executions.map(({ type, events }) => [code(type), String(events)]),
    ),
    table(
      ['request to the service', 'count'],
      requests.map(({ request, count }) => [code(request), String(count)]),
    ),
    `Each further read costs ${withRead.events - whole.events} events, ${withRead.tasks - whole.tasks} workflow tasks,` +
      ` ${withRead.actions - whole.actions} Actions and a request. A status that is queried costs one Action for the run` +
      ' and one for its operation. Queries leave no event.',
    '## With pooled waits',
    'The same run with `--waits pooled`: a worker makes the reads of an operation in progress, and Temporal hears of it' +
      ' through a few heartbeats. The requests to the service are the same.',
    costTable(pooled!.costs),
    'Each further read costs a request, and each minute of waiting one or two Actions.',
  );
}

function costTable(costs: Costs): string {
  const causes = (Object.keys(CAUSES) as Cause[]).filter((cause) => costs[cause].events + costs[cause].actions > 0);
  return table(
    ['cause', 'events', 'workflow tasks', 'Actions'],
    [
      ...causes.map((cause) => [CAUSES[cause], ...numbersOf(costs[cause])]),
      ['**sum**', ...numbersOf(sumOf(costs)).map((it) => `**${it}**`)],
    ],
  );
}

const numbersOf = ({ events, tasks, actions }: Cost): string[] => [events, tasks, actions].map(String);

const sumOf = (costs: Costs): Cost =>
  Object.values(costs).reduce((sum, it) => ({
    events: sum.events + it.events,
    tasks: sum.tasks + it.tasks,
    actions: sum.actions + it.actions,
  }));

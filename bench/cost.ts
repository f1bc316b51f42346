/** What a default run costs Temporal, by cause, with loops and with pooled waits. Counted by the simulator, so it is exact. */
import { CAUSES, type Cause, type Cost, type Costs } from '../test/sim/cost/count-cost.ts';
import { BACKUP_MS, DEPLOYMENT_MS, playDefaultRuns } from '../test/sim/cost/default-run.ts';
import { stackedBarPlot } from './plot/bar-plot.ts';
import { runPart } from './report/run-part.ts';

const WAYS = ['loop', 'pooled'] as const;
const COUNTED = { events: 'events', tasks: 'workflow tasks', actions: 'Actions' } as const satisfies Record<
  keyof Cost,
  string
>;

await runPart('cost', async () => {
  const runs = await playDefaultRuns(WAYS.map((waits) => ({ backupMs: BACKUP_MS, waits })));
  const costs = Object.fromEntries(WAYS.map((way, index) => [way, runs[index]!.costs])) as Record<string, Costs>;
  const causes = (Object.keys(CAUSES) as Cause[]).filter((cause) =>
    Object.values(costs).some(({ [cause]: { events, actions } }) => events + actions > 0),
  );
  const requests = runs.map((run) => run.requests.reduce((sum, { count }) => sum + count, 0));
  const counted = (Object.keys(COUNTED) as (keyof Cost)[]).flatMap((what) => WAYS.map((way) => ({ what, way })));
  const valuesOf = ({ what, way }: (typeof counted)[number]) => causes.map((cause) => costs[way]![cause][what]);
  return {
    plan: { backupMs: BACKUP_MS, deploymentMs: DEPLOYMENT_MS },
    figures: Object.fromEntries(WAYS.map((way, index) => [way, { costs: costs[way], requests: requests[index] }])),
    rounds: [],
    tables: [
      {
        title: 'A default run: a backup of 3 minutes, then a deployment of 1 minute',
        head: ['cause', ...counted.map(({ what, way }) => `${COUNTED[what]}, ${way}`)],
        rows: [
          ...causes.map((cause, index) => [CAUSES[cause], ...counted.map((it) => String(valuesOf(it)[index]))]),
          ['sum', ...counted.map((it) => String(valuesOf(it).reduce((sum, value) => sum + value, 0)))],
        ],
      },
    ],
    plots: {
      causes: stackedBarPlot(
        'A default run: events, workflow tasks and Actions, by cause',
        causes.map((cause) => CAUSES[cause]),
        counted.map((it) => ({ name: `${COUNTED[it.what]}, ${it.way}`, values: valuesOf(it) })),
      ),
    },
    notes: [`Requests to the service: ${WAYS.map((way, index) => `${requests[index]} with ${way}`).join(', ')}.`],
  };
});

/** S14: no request that is scheduled in a freeze is sent before its end, unless the run is let off it. Pure. */
import { holdsBack, isLetOff } from '../../model/gates.ts';
import { cite, msOf } from '../../model/facts.ts';
import type { JournalEntry } from '../../../src/sandbox/state.ts';
import { isPost } from '../../support/post-activities.ts';
import type { Play } from '../plays/play.ts';
import { isOperation, type Run } from '../temporal/types.ts';

type Checked = Pick<Play, 'world'> & { played: Pick<Play['played'], 'runs' | 'journal' | 'freezes'> };

export function sentFrozen({ played, world }: Checked): string[] {
  const { runs, journal, freezes = [] } = played;
  if (freezes.length === 0) return [];
  const posts = journal.filter(({ request, by }) => by === 'api' && request.startsWith('POST '));
  return runs.flatMap((run) => {
    const operations = world.server.runs.filter((it) => isOperation(it) && it.parent?.runId === run.runId);
    return posts.flatMap((entry) =>
      freezes
        .filter((freeze) => holdsBack(freeze, run, entry) && !isLetOff(freeze, run))
        .filter(({ fromMs, toMs }) => scheduledMs(operations, entry) >= fromMs && msOf(entry.at) < toMs)
        .map(({ name }) => `S14: ${run.workflowId} sent ${cite(entry)}, scheduled in the freeze ${name}`),
    );
  });
}

/** When Temporal learned of the request, whichever operation of the run made it: they follow one another. */
function scheduledMs(operations: readonly Run[], { at }: JournalEntry): number {
  const scheduled = operations.flatMap(({ history }) =>
    history.flatMap((it) => (it.kind === 'activityScheduled' && isPost({ name: it.type }) ? [it.atMs] : [])),
  );
  return Math.max(...scheduled.filter((ms) => ms <= msOf(at)));
}

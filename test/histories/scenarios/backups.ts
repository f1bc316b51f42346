/** Where a backup may come from, and how it may end. */
import { backupServerId } from '../../../src/contract/ids.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { backupOutside } from '../../support/sites.ts';
import { waitingFor } from '../reach.ts';
import { ended, type Kept, type Scenario } from '../scenario.ts';
import { deliver } from '../deliver.ts';
import { PACE, type Stage } from '../stage.ts';

/** A run of one server: whether its history, or that of its operation, is kept too. */
function backup(
  name: string,
  expected: Parameters<typeof ended>[1],
  setUp: (stage: Stage, serverId: string) => Promise<Partial<RunInput>> | Partial<RunInput>,
  keepsOperation = true,
): Scenario {
  return {
    name,
    async play(stage) {
      const serverId = fresh('s');
      const run = await stage.start({ serverId, ...(await setUp(stage, serverId)) });
      await ended(run, expected);
      return [run, ...(keepsOperation ? [{ workflowId: backupServerId(serverId) }] : [])];
    },
  };
}

const made = async (stage: Stage, serverId: string): Promise<string> => {
  const { backup: it } = await ended(await stage.start({ serverId }), 'completed');
  return it?.backupId ?? '';
};

export const BACKUPS: Scenario[] = [
  backup('completed', 'completed', () => ({})),
  backup('failed', 'BackupFailed', ({ sandbox }, server) => {
    sandbox.script({ server }, { ends: 'failed' });
    return {};
  }),
  backup('timed-out', 'BackupTimedOut', ({ sandbox }, server) => {
    sandbox.script({ server }, { ends: 'never' });
    return { backup: { ...PACE, tries: 3 } };
  }),
  backup('made-twice', 'completed', ({ sandbox }, target) => {
    sandbox.fault({ route: 'create-backup', target, answer: { kind: 'reset' } });
    return {};
  }),
  backup(
    'reused',
    'completed',
    async (stage, serverId) => {
      await made(stage, serverId);
      return { backup: { ...PACE, maxAgeMs: 3_600_000 } };
    },
    false,
  ),
  backup(
    'given',
    'completed',
    async (stage, serverId) => ({ backup: { ...PACE, backupId: await made(stage, serverId) } }),
    false,
  ),
  {
    name: 'from-elsewhere',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { ends: 'never' });
      const backupId = backupOutside(stage.sandbox, serverId);
      await deliver(stage, { kind: 'backup.started', serverId, backupId }, ['share']);
      const run = await stage.start({ serverId, backup: { intervalMs: 1_000, tries: 300 } });
      await waitingFor(run, 'backup');
      stage.sandbox.finish({ server: serverId }, 'completed');
      const { backup: it } = await ended(run, 'completed');
      if (it?.backupId !== backupId) throw new Error(`the backup is ${it?.backupId}`);
      return [run];
    },
  },
  {
    name: 'shared',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { durationMs: 8_000 });
      await stage.start({ serverId });
      const sharing = await stage.start({ serverId });
      const { backup: it } = await ended(sharing, 'completed');
      if (it?.source !== 'shared') throw new Error(`the backup is ${it?.source}`);
      return [sharing, { workflowId: backupServerId(serverId) }];
    },
  },
  {
    name: 'cancelled',
    async play(stage): Promise<Kept[]> {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { durationMs: 3_000 });
      const run = await stage.start({ serverId });
      await eventually('the backup', () => stage.sandbox.journal.find(({ began }) => began?.target === serverId));
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run];
    },
  },
];

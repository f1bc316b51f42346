/** For tests of activities that ask nobody but the service. */
import type { ActivityDeps } from '../../src/activities/index.ts';

const nothing = () => Promise.resolve(null);

export const NOBODY_ELSE: Omit<ActivityDeps, 'service' | 'statuses' | 'facts'> = {
  findBackup: nothing,
  findHolder: nothing,
  hold: () => Promise.resolve([]),
  serversOf: () => Promise.resolve([]),
  sharedBackup: nothing,
  wake: () => Promise.resolve([]),
  notify: () => Promise.resolve(true),
  callHeartbeat: () => Promise.resolve(true),
};

/** What tests of freezes compare. */
import type { RunResult } from '../../../../src/contract/run.ts';
import { posts } from '../../../support/journal.ts';
import type { VirtualStack } from '../../stack/stack.ts';

export const verdictOf = ({ outcome, error }: RunResult) => [outcome, error?.type];

export const backupPosts = ({ sandbox }: VirtualStack, serverId: string) =>
  posts(sandbox, `/v1/servers/${serverId}/backups`).length;

/** An ad-hoc freeze as text. Pure. */
import type { AdHocFreeze, FreezeScope } from '../freeze.ts';

/** `everything`, `server 12`: what it holds back. @param shown formats the id for display */
export const scopeText = (scope: FreezeScope, shown: (id: string) => string = String): string =>
  scope.kind === 'all' ? 'everything' : `${scope.kind} ${shown(scope.id)}`;

export const blocksText = ({ blocks }: Pick<AdHocFreeze, 'blocks'>): string =>
  blocks.includes('backup') ? 'deployments and backups' : 'deployments';

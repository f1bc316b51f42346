/** Start options of an ad-hoc freeze, and what its page shows. Pure. */
import type { AdHocFreeze, FreezeMemo, FreezeScope } from './shapes.ts';
import { blocksText, scopeText } from './text.ts';
import { factList } from '../../contract/markdown.ts';
import { codeSpan, plainText, shellWord } from '../../contract/safe-text.ts';
import { TIMING } from '../../contract/timing.ts';
import { detailsPage } from '../../request/details-page.ts';

export function freezeStartOptions(freeze: AdHocFreeze) {
  const memo: FreezeMemo = { freeze };
  return {
    memo: { ...memo },
    staticSummary: plainText(`Freeze of ${scopeText(freeze.scope)}`, 120),
    staticDetails: freezeStaticDetails(freeze),
    workflowTaskTimeout: TIMING.worker.workflowTaskMs,
  };
}

function freezeStaticDetails(freeze: AdHocFreeze): string {
  const { scope, since, until, reason, by, override } = freeze;
  return detailsPage(
    `Holds back ${blocksText(freeze)} of ${scopeText(scope, codeSpan)}. The running workflow is the freeze: it holds ` +
      'also while no worker runs. What is in progress at the service goes on.',
    factList({
      Reason: codeSpan(reason),
      'Set by': `${codeSpan(by)} at ${since}`,
      Until: until,
      Override: override === 'never' ? 'no run may be let off' : 'a run may be let off, with a reason',
    }),
    `End it: ${codeSpan(`belay thaw${scopeFlags(scope)} --reason TEXT`)}, which also wakes the runs that wait for it.`,
  );
}

const scopeFlags = (scope: FreezeScope): string =>
  scope.kind === 'all' ? '' : ` --${scope.kind} ${shellWord(scope.id)}`;

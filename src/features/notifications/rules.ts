/** Sums up a run and its targets for other places, in seven states. Pure. */
import { lockIdOf } from '../../contract/ids.ts';
import type { Outcome, Phase } from '../../contract/names.ts';
import type { ReportedState, RunEnd, StateReport } from './shapes.ts';
import type { RunError, RunResult } from '../../contract/run.ts';
import { isUnseen } from '../site-checks/text.ts';
import { plainText } from '../../contract/safe-text.ts';

/** GitHub limits a description to this many characters. */
const MAX_TEXT = 140;

/** These errors keep a run from continuing, and do not mean that its work failed. */
const KEPT_BACK = ['Cancelled', 'Superseded', 'Frozen', 'ApprovalExpired'];

const WAITS: Partial<Record<Phase, string>> = {
  checking: 'begins',
  admission: 'waits for admission',
  frozen: 'waits for the end of a freeze',
  approval: 'waits for approval',
};

function stateOfEnd(outcome: Outcome | null, error: RunError | null): ReportedState {
  if (outcome === 'completed' || outcome === 'failed' || outcome === 'cancelled') return outcome;
  if (outcome !== 'not_started') return 'unclear';
  return KEPT_BACK.includes(error?.type ?? '') ? 'cancelled' : 'refused';
}

type Known = Pick<RunResult, 'outcome' | 'phase' | 'error' | 'deployments' | 'supersededBy' | 'commit'>;

export function statesOf(result: Known): RunEnd {
  const run = stateOfRun(result);
  const isOver = result.phase === 'done';
  const parts = result.deployments.map(({ target, outcome, error, check }): [string, StateReport] => {
    const doubt = result.commit !== null && isUnseen({ outcome, check }) ? UNSEEN : '';
    const own = error ?? (outcome === 'not_started' ? result.error : null);
    // Before the end of the run, a target that was not started may still be.
    const isKnown = outcome !== null && (isOver || outcome !== 'not_started');
    return [lockIdOf(target), isKnown ? reportOf(stateOfEnd(outcome, own), own?.message ?? `${outcome}${doubt}`) : run];
  });
  return { run, parts: Object.fromEntries(parts) };
}

/** Added if no check read the commit from the site, because the place shows the text beside the commit. */
const UNSEEN = '; the commit was named, not seen on the site';

function stateOfRun({ outcome, phase, error, supersededBy }: Known): StateReport {
  if (phase !== 'done') {
    const waits = WAITS[phase ?? 'checking'];
    return waits === undefined ? reportOf('begun', 'in progress') : reportOf('waiting', waits);
  }
  const replaced = supersededBy === null ? null : `replaced by ${supersededBy.workflowId}`;
  return reportOf(stateOfEnd(outcome, error), replaced ?? error?.message ?? outcome ?? 'ended by a defect of Belay');
}

const reportOf = (state: ReportedState, text: string): StateReport => ({ state, text: plainText(text, MAX_TEXT) });

export const ENDED_FROM_OUTSIDE: StateReport = { state: 'unclear', text: 'ended from outside' };

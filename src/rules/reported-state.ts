/** What is told outside of a run and its targets: seven words. Pure. */
import { lockIdOf } from '../contract/ids/workflow-ids.ts';
import type { Outcome, Phase } from '../contract/names.ts';
import type { ReportedState, RunEnd, Told } from '../contract/report.ts';
import type { RunError, RunResult } from '../contract/run.ts';
import { plainText } from '../contract/wording/safe-text.ts';

/** GitHub's limit of a description. */
const MAX_TEXT = 140;

/** What keeps a run from going on is no failure of what it was to do. */
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

type Known = Pick<RunResult, 'outcome' | 'phase' | 'error' | 'deployments' | 'supersededBy'>;

export function toldOf(result: Known): RunEnd {
  const run = toldOfRun(result);
  const isOver = result.phase === 'done';
  const parts = result.deployments.map(({ target, outcome, error }): [string, Told] => {
    const own = error ?? (outcome === 'not_started' ? result.error : null);
    // Before the end, what was not started may still be.
    const isKnown = outcome !== null && (isOver || outcome !== 'not_started');
    return [lockIdOf(target), isKnown ? told(stateOfEnd(outcome, own), own?.message ?? outcome) : run];
  });
  return { run, parts: Object.fromEntries(parts) };
}

function toldOfRun({ outcome, phase, error, supersededBy }: Known): Told {
  if (phase !== 'done') {
    const waits = WAITS[phase ?? 'checking'];
    return waits === undefined ? told('begun', 'in progress') : told('waiting', waits);
  }
  const replaced = supersededBy === null ? null : `replaced by ${supersededBy.workflowId}`;
  return told(stateOfEnd(outcome, error), replaced ?? error?.message ?? outcome ?? 'ended by a defect of Belay');
}

const told = (state: ReportedState, text: string): Told => ({ state, text: plainText(text, MAX_TEXT) });

export const ENDED_FROM_OUTSIDE: Told = { state: 'unclear', text: 'ended from outside' };

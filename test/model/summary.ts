/** The results of a number of draws as text. */
import type { Batch } from './batch.ts';
import { cite } from './facts.ts';
import type { Draw } from './play-batch.ts';

export interface Summary {
  draws: number;
  killed: number;
  apart: number;
  violations: number;
  waitsEnded: number;
  /** Triggers of deployments with an unknown effect. */
  ambiguous: number;
  outcomes: Record<string, number>;
}

export const newSummary = (): Summary => ({
  draws: 0,
  killed: 0,
  apart: 0,
  violations: 0,
  waitsEnded: 0,
  ambiguous: 0,
  outcomes: {},
});

export function addDraws(summary: Summary, draws: Draw[]): void {
  for (const { played, killed, apart, violations } of draws) {
    summary.draws += 1;
    summary.killed += killed ? 1 : 0;
    summary.apart += apart.length > 0 ? 1 : 0;
    summary.violations += violations.length > 0 ? 1 : 0;
    for (const { result, waitsEnded } of played.runs) {
      summary.waitsEnded += waitsEnded.length;
      summary.ambiguous += result?.deployments.filter(({ trigger }) => trigger.ambiguous).length ?? 0;
      const outcome = result?.outcome ?? 'none';
      summary.outcomes[outcome] = (summary.outcomes[outcome] ?? 0) + 1;
    }
  }
}

export function summaryText({ draws, killed, apart, violations, waitsEnded, ambiguous, outcomes }: Summary): string {
  const runs = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const found = `${violations} in violation, ${waitsEnded} unrequested ends of waits, ${ambiguous} ambiguous triggers`;
  return `${draws} draws, ${killed} with a SIGKILL, ${apart} apart, ${found}; runs: ${runs.join(', ')}`;
}

/** Empty for a draw without one. @param repeat the command that draws it again */
export function violationText({ index, beganMs, violations, played }: Draw, batch: Batch, repeat: string): string {
  if (violations.length === 0) return '';
  const scenario = batch.scenarios[index]!;
  // A scenario alone sends fewer requests, so its deeds use times instead of request counts.
  const deeds = played.deeds.map(({ what, forMs, fromMs }) => ({ what, forMs, moment: { atMs: fromMs - beganMs } }));
  const alone: Batch = { ...batch, deeds, scenarios: [scenario] };
  const runs = played.runs.map(({ workflowId, runId, result }) => {
    const parts = result?.deployments.map((it) => `${it.target.id} ${it.outcome} by ${it.evidence}`).join(', ');
    return `${workflowId} (${runId}): ${result?.outcome}, backup ${result?.backup?.outcome}, ${parts}; ${result?.error?.message}`;
  });
  return [
    ...violations,
    ...runs.map((line) => `  ${line}`),
    ...played.deeds.map(({ what, fromMs, toMs }) => `  ${clock(fromMs)} to ${clock(toMs)} ${what}`),
    ...played.journal.map((entry) => `  ${cite(entry)}`),
    `  scenario ${index}, for --scenario FILE: ${JSON.stringify(alone)}`,
    `  repeat with: ${repeat}\n`,
  ].join('\n');
}

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 23);

/** Runs the checks of `belay doctor`. */
import type { ConnectionLike } from '@temporalio/client';
import { isMissingNamespace, CHECK_NAMESPACE } from '../client/transport/grpc-errors.ts';
import { atItsLine } from '../config/load.ts';
import { BelayError } from '../contract/errors.ts';
import { messageOf } from '../contract/safe-text.ts';

export interface NamespaceConnection {
  connection: ConnectionLike;
  namespace: string;
}

export interface Finding {
  /** `warning`: it works, but not as it should. */
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  message: string;
  remedy?: string;
  /** Fixes the problem. @returns what was done */
  fix?: () => Promise<string>;
}

export const WITHOUT_TEMPORAL: Finding = { state: 'skipped', message: 'Temporal does not answer' };

export interface Check {
  name: string;
  run: () => Promise<Finding>;
}

export interface CheckReport extends Omit<Finding, 'fix'> {
  name: string;
}

/** Runs the checks in order; a check that throws has failed. @param fix fix problems where possible */
export async function runChecks(
  checks: Check[],
  fix: boolean,
  onReport: (report: CheckReport) => void,
): Promise<CheckReport[]> {
  const reports: CheckReport[] = [];
  let isMissing = false;
  for (const { name, run } of checks) {
    const { fix: repair, ...finding } = await runOnce(run, fix).catch(async (error: unknown): Promise<Finding> => {
      if (!isMissingNamespace(error)) return { state: 'failed', message: messageOf(await atItsLine(error)) };
      // All checks that ask for something in it would repeat this.
      if (isMissing) return { state: 'skipped', message: 'the namespace does not exist' };
      isMissing = true;
      return { state: 'failed', message: messageOf(error), remedy: CHECK_NAMESPACE };
    });
    const canFix = repair !== undefined && finding.remedy !== undefined;
    const report: CheckReport = { name, ...finding };
    if (canFix) report.remedy = `${finding.remedy}, or \`belay doctor --fix\``;
    reports.push(report);
    onReport(report);
  }
  return reports;
}

async function runOnce(run: Check['run'], fix: boolean): Promise<Finding> {
  const finding = await run();
  if (!fix || finding.fix === undefined) return finding;
  return { state: 'ok', message: `${finding.message}. Fixed: ${await finding.fix()}` };
}

/**
 * For a check that only gives advice, and is skipped if Temporal cannot be asked. @throws the error if the namespace does
 * not exist, because `runChecks` reports that once for all checks
 */
export const adviceOn = <T>(asked: Promise<T>, judge: (found: T) => Finding): Promise<Finding> =>
  asked.then(judge, (error: Error) => {
    if (isMissingNamespace(error)) throw error;
    // The check of Temporal gives the reason and the remedy.
    const isUnreachable = error instanceof BelayError && error.type === 'TemporalUnreachable';
    return isUnreachable ? WITHOUT_TEMPORAL : { state: 'skipped', message: error.message };
  });

const MOST_NAMED = 5;

export function shortList(texts: readonly string[]): string {
  const more = texts.length > MOST_NAMED ? [`${texts.length - MOST_NAMED} more`] : [];
  return [...texts.slice(0, MOST_NAMED), ...more].join('; ');
}

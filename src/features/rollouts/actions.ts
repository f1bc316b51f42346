/** `belay rollout` starts rollouts of a fleet in belay.yaml, shows them and controls them. */
import { ciFacts } from '../../config/environment/ci-facts.ts';
import { requireConfiguration } from '../../config/load.ts';
import { printAnswer } from '../../process/json-document.ts';
import type { DecisionInput } from './shapes.ts';
import { planRollout } from '../../config/rollout-plan.ts';
import { inTurn, reportEndpoints, withBelay } from '../../cli/open-belay.ts';
import { withFacts } from '../../request/input/start-request.ts';
import { signature } from '../../config/environment/environment.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { Belay, Rollout } from '../../starter.ts';
import { rolloutLines, rolloutListLines, showRollout, viewOfRollout, type ShowOptions } from './actions-show.ts';
import { exceptionsOf, metaNotes, type ExceptionOptions, mostListed } from '../../cli/options.ts';
import { noteUnreadable } from '../../cli/run-text.ts';
import { nameOptions } from '../../cli/run-options.ts';
import { sinceText } from '../../cli/parse-values.ts';
import { startAndPrint, type WaitingOptions } from '../../cli/wait-for-verdict.ts';
import { columnsOf } from '../../process/live-lines.ts';
import { printNote } from '../../process/print.ts';

export type RolloutFlags = WaitingOptions &
  ExceptionOptions & {
    service?: string;
    key?: string;
    detach?: boolean;
    dryRun?: boolean;
    heartbeat?: string;
    meta?: Record<string, string>;
    commit?: string;
    orNewer?: true;
    approval?: string | string[];
  };

export async function startRollout(name: string, options: RolloutFlags): Promise<void> {
  const { key, approval, heartbeat, commit, orNewer } = options;
  const meta = withFacts(options.meta, ciFacts());
  const plan = planRollout(await requireConfiguration(), name, definedFields({ commit, orNewer }));
  const input = { ...plan, ...definedFields({ key, approval, heartbeat, meta }), ...exceptionsOf(options) };
  printNote(metaNotes(options.meta));
  if (options.dryRun === true) return dryRunOf(input, options).catch(nameOptions);
  await follow(options, (belay) => belay.rollouts.start(input)).catch(nameOptions);
}

async function dryRunOf(
  { key, ...input }: ReturnType<typeof planRollout> & { key?: string },
  options: RolloutFlags,
): Promise<void> {
  const { dryRun, plannedRollout } = await import('../../cli/dry-run.ts');
  await reportEndpoints(options.service);
  process.exitCode = await dryRun(plannedRollout(input, key), options);
}

export function retryRollout(workflowId: string, options: RolloutFlags): Promise<void> {
  return follow(options, (belay) => belay.rollouts.retry(workflowId));
}

async function follow(options: RolloutFlags, start: (belay: Belay) => Promise<Rollout>): Promise<void> {
  await reportEndpoints(options.service);
  process.exitCode = await withBelay(
    (belay) =>
      startAndPrint(
        { start: () => start(belay), viewOf: (rollout) => viewOfRollout(belay, rollout), lines: rolloutLines },
        options,
      ),
    definedFields({ service: options.service }),
  );
}

export type RolloutStatusOptions = ShowOptions & { runId?: string };

export async function showRolloutStatus(workflowId: string, options: RolloutStatusOptions): Promise<void> {
  process.exitCode = await withBelay((belay) => showRollout(belay.rollouts.get(workflowId, options.runId), options));
}

export interface DecisionOptions {
  reason: string;
  by?: string;
  server?: string[];
  json?: boolean;
}

export async function decideRollout(
  what: 'pause' | 'resume' | 'abort',
  workflowId: string,
  { reason, by = signature(), server, ...options }: DecisionOptions,
): Promise<void> {
  const decisions: DecisionInput[] = server?.map((serverId) => ({ by, reason, serverId })) ?? [{ by, reason }];
  process.exitCode = await withBelay(async (belay) => {
    const rollout = belay.rollouts.get(workflowId);
    await inTurn(
      decisions,
      async (decision) => (await rollout[what](decision), decision),
      ({ serverId }) => `server ${serverId} was released`,
    );
    return showRollout(rollout, options);
  });
}

export interface RolloutListOptions {
  since?: number;
  limit?: number;
  json?: boolean;
}

export async function listRollouts(options: RolloutListOptions): Promise<void> {
  const most = mostListed(options);
  const filter = definedFields({ since: sinceText(options.since) });
  const rollouts = await withBelay((belay) => belay.rollouts.list({ ...filter, limit: most }));
  noteUnreadable(rollouts);
  printAnswer(options.json, { rollouts }, rolloutListLines(rollouts, most, columnsOf(process.stdout)));
}

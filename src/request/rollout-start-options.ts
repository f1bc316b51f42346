/** Start options of rollouts, and the hash that tells whether two requests are the same. Pure. */
import { hashOf } from '../contract/canonical-json.ts';
import { detailsPage, factList, listStart } from '../contract/markdown.ts';
import { definedFields } from '../contract/plain-object.ts';
import { counted } from '../contract/results.ts';
import { codeSpan, plainText } from '../contract/safe-text.ts';
import type { ServedService } from '../contract/service-identity.ts';
import { isApp, targetsOf } from '../contract/target.ts';
import { TIMING } from '../contract/timing.ts';
import { budgetFacts, overrideFact, serviceFact, waiverFact } from './run-details.ts';
import { planRun } from './run-options.ts';
import { sameOverride } from './start-options.ts';
import type { RolloutInput, RolloutMemo, RolloutWave } from '../features/rollouts/shapes.ts';

/** @param request for a retry, the hash of the first attempt */
export function rolloutStartOptions(input: RolloutInput, start: RolloutToStart, request = requestHash(input)) {
  const { service, name, fleet, waves, attempt = 1 } = input;
  const targets = waves.flatMap((wave) => wave.targets);
  const deployed = targets.flatMap(targetsOf);
  const apps = deployed.filter(isApp).length;
  const servers = targets.map(({ serverId }) => serverId);
  const withApps = apps === 0 ? '' : ` and ${counted(apps, 'app')}`;
  const memo: RolloutMemo = { ...definedFields({ service }), name, fleet, attempt, request, servers };
  return {
    memo: { ...memo },
    staticSummary: `Roll ${plainText(name, 50)} out to ${counted(targets.length, 'server')} with ${counted(deployed.length - apps, 'site')}${withApps}`,
    staticDetails: rolloutStaticDetails(input, start),
    workflowTaskTimeout: TIMING.worker.rolloutTaskMs,
  };
}

/** Hashes the requested work. It leaves out `meta`, because a retried CI job may send different notes. */
export function requestHash(input: RolloutInput): string {
  const { service, name, fleet, key, waves, maxAtOnce, maxFailures, onFailures, options, deploysUntil, heartbeat } =
    input;
  const override = sameOverride(input.override);
  const { approval, onGates } = input;
  const noCheck = input.noCheck?.reason;
  const request = {
    service,
    name,
    fleet,
    key,
    waves,
    maxAtOnce,
    maxFailures,
    onFailures,
    options,
    deploysUntil,
    heartbeat,
    // Only where they are set: the hashes of requests from before these fields are stored, and must not change.
    ...definedFields({ override, noCheck, approval, onGates }),
  };
  return hashOf(request);
}

/**
 * True if the hash belongs to the same request, even from before its service moved, or from a request that named no
 * service.
 */
export function isSameRequest(hash: string | undefined, input: RolloutInput, served: ServedService | null): boolean {
  const { service, ...unnamed } = input;
  const formerly = served !== null && service === served.service ? served.formerly : [];
  return [unnamed, input, ...formerly.map((it) => ({ ...input, service: it }))].some((it) => requestHash(it) === hash);
}

/* Details that the page of a rollout shows from its start. Pure. */

interface RolloutToStart {
  /** Markdown. */
  startedBy: string;
}

export function rolloutStaticDetails(input: RolloutInput, { startedBy }: RolloutToStart): string {
  const { name, fleet, waves, maxAtOnce, maxFailures, onFailures, attempt = 1, deploysUntil } = input;
  const deploys = waves.some(({ targets }) => targets.some((it) => targetsOf(it).length > 0));
  return detailsPage(
    `Rolls ${codeSpan(name)} out: one run for each server of the fleet ${codeSpan(fleet)}, wave by wave.`,
    factList(
      {
        'Started by': `${startedBy}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
        Service: serviceFact(input.service),
        Waves: listStart(waves.map(waveText)),
        'At once': `at most ${counted(maxAtOnce, 'server')}`,
        'Tolerated failures': `${maxFailures}, and one more ${onFailures === 'pause' ? 'pauses' : 'stops'} the rollout`,
        ...budgetFacts(planRun({ ...input.options }), { backsUp: true, deploys }),
        Override: overrideFact(input.override),
        Checks: waiverFact(input.noCheck),
        'Last start':
          deploysUntil === undefined
            ? null
            : `no deployment begins later than ${codeSpan(deploysUntil.time)} in ${codeSpan(deploysUntil.timeZone)}`,
      },
      input.meta,
    ),
    'Never terminate or reset it.',
  );
}

const waveText = ({ name, targets }: RolloutWave): string =>
  `${codeSpan(name)} with ${counted(targets.length, 'server')}`;

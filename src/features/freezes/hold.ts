/** A frozen run is refused, or waits until the freezes end. It holds no lock and no operation meanwhile. */
import { FREEZES_FACT, type FrozenParts } from './shapes.ts';
import { factOf } from '../../contract/facts.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { targetsInput, type Target } from '../../contract/target.ts';
import { frozenText, tooLongText } from './text.ts';
import { heldPart, type HeldPart } from './rules.ts';
import { judgeFreezes } from '../../workflows/activity-proxies.ts';
import { applyOverride } from './override.ts';
import { awaitThaw, createThaws, tooManyThaws, unlessOver, type Thaws } from './thaws.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { Hold, RunPart } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';

/** The part of a run that is about to begin. */
interface NextPart {
  backsUp: boolean;
  /** In their order. The run waits for the first one if it is frozen. */
  targets: readonly Target[];
  /** True to ask about the targets after the first one, too. */
  keepGoing?: boolean;
}

export function freezeHold(run: RunState): Hold {
  const { input, plan, targets, type } = run;
  const thaws = createThaws();
  const overriding = { input, result: run.result, letOff: [] };
  const whole: NextPart = { backsUp: input.serverId !== undefined, targets };
  const waits = plan.ifFrozen === 'wait' && type !== 'watchDeployment';
  const { frozen: frozenAtFirst, override } = factOf(run.facts, FREEZES_FACT) ?? {};
  let isAsked = false;

  const heldIn = (next: NextPart, frozen: FrozenParts | null | undefined, mayPass = false): HeldPart | null =>
    heldPart(frozen, { serverId: input.serverId, targets: next.targets }, mayPass);

  /** A run does not begin if its first deployment is frozen, because its backup would be of no use. */
  function refuseFrozen(frozen: FrozenParts | null | undefined): Conclusion | null {
    if (type === 'watchDeployment' || waits) return null;
    const held = heldIn(whole, frozen, plan.keepGoing);
    return held === null ? null : conclude('not_started', 'Frozen', `${held.what}: ${frozenText(held.by)}`);
  }

  async function ask({ backsUp, targets: next, keepGoing }: NextPart): Promise<FrozenParts | null> {
    const of = {
      ...targetsInput(next),
      ...definedFields({ serverId: input.serverId, fleet: input.fleet, keepGoing }),
    };
    const asked = judgeFreezes({ ...of, backsUp, letOff: overriding.letOff, atMs: Date.now() });
    // What was cancelled starts nothing.
    return (await unlessOver(asked, () => run.cancellation.requested))?.frozen ?? null;
  }

  const askFirst = (next: NextPart) => ask({ ...next, targets: next.targets.slice(0, 1) });

  /** Waits until the next part may begin. @param first what was frozen a moment ago */
  async function waitFor(next: NextPart, first: FrozenParts | null): Promise<Conclusion | null> {
    const nothing: HeldPart = { what: 'nothing was started', by: [] };
    const held = heldIn(next, first) ?? nothing;
    const tooMany = tooManyThaws(thaws);
    if (tooMany !== null) return concludeFrozen(held, tooMany);
    const look = async () => heldIn(next, await askFirst(next)) ?? nothing;
    return run.during('frozen', () => waitWhileFrozen(run, thaws, held, look));
  }

  return {
    refuse: () => applyOverride(overriding, override) ?? refuseFrozen(frozenAtFirst),
    async begin() {
      const frozen = isAsked ? await ask({ ...whole, keepGoing: plan.keepGoing }) : (frozenAtFirst ?? null);
      const refusal = isAsked ? refuseFrozen(frozen) : null;
      isAsked = true;
      if (refusal !== null) return refusal;
      if (heldIn(whole, frozen) === null || !waits) return null;
      return (await waitFor(whole, frozen)) ?? 'waited';
    },
    reopens: ({ outcome, error }) => waits && outcome === 'not_started' && error?.type === 'Frozen',
    async wait(part: RunPart) {
      const next = part.kind === 'backup' ? { backsUp: true, targets } : { backsUp: false, targets: [part.target] };
      return waitFor(next, await askFirst(next));
    },
    carries: () => (overriding.letOff.length === 0 ? {} : { letOff: overriding.letOff }),
  };
}

async function waitWhileFrozen(
  run: RunState,
  thaws: Thaws,
  first: HeldPart,
  look: () => Promise<HeldPart>,
): Promise<Conclusion | null> {
  const { cancellation, plan, result } = run;
  const { freezeWaitMs } = plan;
  let held = first;
  const end = await awaitThaw(
    { thaws, result },
    {
      look: async () => {
        held = await look();
        return held.by;
      },
      freezeWaitMs,
      deadlineMs: run.mayBeginUntilMs(),
      isOver: () => cancellation.requested,
      onLook: (waiting) => run.setWaiting(waiting),
    },
    held.by,
  );
  if (end.kind === 'free') return null;
  if (end.kind === 'over') return conclude('not_started', 'Cancelled', `${held.what}: cancelled while it was frozen`);
  return concludeFrozen({ ...held, by: end.by }, tooLongText(freezeWaitMs));
}

function concludeFrozen({ what, by }: HeldPart, why: string): Conclusion {
  return conclude('not_started', 'Frozen', by.length === 0 ? `${what}: ${why}` : `${what}: ${frozenText(by)}; ${why}`);
}

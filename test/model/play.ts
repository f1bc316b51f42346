/** Plays one scenario with its runs, cancellations and outside actors until every run has closed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../src/sandbox/faults.ts';
import type { Arena } from './arena.ts';
import { cancel, follow, startPatiently, type StartedRun } from './following.ts';
import { freezing } from './freezing.ts';
import type { Played, PlayedRun } from './record.ts';
import type { Act, Scenario } from './scenario.ts';
import { resourceNamed } from './targets.ts';

export interface Stage {
  arena: Pick<Arena, 'sandbox' | 'belay'>;
  /** Makes the names of a scenario unique. */
  prefix: string;
  /** Ends a play whose runs do not close. */
  late: AbortSignal;
}

/** The part that the deeds of the batch and Temporal's list complete. */
export type Part = Pick<Played, 'scripts' | 'runs' | 'journal' | 'freezes' | 'checked' | 'answers'>;

export async function play(scenario: Scenario, stage: Stage): Promise<Part> {
  const { arena, prefix, late } = stage;
  const { sandbox } = arena;
  await sleep(scenario.startMs);
  const scripts = Object.fromEntries(Object.entries(scenario.scripts).map(([name, list]) => [prefix + name, list]));
  for (const [id, list] of Object.entries(scripts)) {
    sandbox.script(resourceNamed(id), ...list);
  }
  const answers = (scenario.answers ?? []).map((it) => ({ ...it, target: prefix + it.target }));
  for (const { target, ...how } of answers) sandbox.answer(resourceNamed(target), how);
  for (const name of scenario.past) sandbox.act(resourceNamed(prefix + name));
  const ofReads = scenario.faults.filter(({ route }) => route === 'backup');
  sandbox.fault(...scenario.faults.filter(({ route }) => route !== 'backup').map((fault) => onOwn(fault, prefix)));
  const stopAiming = aimAtBackups(stage, ofReads);

  const runs = new Map<number, Promise<StartedRun | null>>();
  const ends: Promise<unknown>[] = [];
  const freezes = freezing(stage);
  const beganMs = Date.now();
  for (const act of scenario.acts) {
    await sleep(beganMs + act.atMs - Date.now());
    if (act.do === 'start') {
      const draw = scenario.runs[act.run]!;
      const override = draw.overrides === true ? freezes.override() : {};
      const started = startPatiently(stage, { ...draw, input: { ...draw.input, ...override } });
      runs.set(act.run, started);
      ends.push(started.then((it) => (it === null ? undefined : follow(it, late))));
    } else if (act.do === 'cancel') ends.push(cancel(stage, runs.get(act.run)));
    else if (act.do === 'freeze') ends.push(freezes.begin(act));
    else if (act.do === 'thaw') ends.push(freezes.thaw(act.target));
    else actOutside(stage, act);
  }
  await Promise.all(ends);
  stopAiming();
  const played = (await Promise.all(runs.values())).flatMap((it) => (it === null ? [] : [it.played]));
  const checked = scenario.checked?.map((name) => prefix + name) ?? [];
  return { scripts, runs: once(played), journal: ownJournal(stage), freezes: freezes.played, checked, answers };
}

const onOwn = (fault: Fault, prefix: string): Fault => ({ ...fault, target: prefix + fault.target });

/** A backup has no id before it is made, so its faults wait for it. */
function aimAtBackups({ arena: { sandbox }, prefix }: Stage, faults: Fault[]): () => void {
  let looked = 0;
  const look = () => {
    for (; looked < sandbox.journal.length; looked += 1) {
      const began = sandbox.journal[looked]!.began;
      if (began?.kind !== 'backup') continue;
      for (const fault of faults) {
        if (prefix + fault.target === began.target) sandbox.fault({ ...fault, target: began.id });
      }
    }
  };
  const timer = faults.length === 0 ? undefined : setInterval(look, 20);
  return () => clearInterval(timer);
}

function actOutside({ arena: { sandbox }, prefix }: Stage, act: Act): void {
  if (act.do === 'push') sandbox.act(resourceNamed(prefix + act.target));
  if (act.do === 'back up') sandbox.act({ server: prefix + act.server });
  if (act.do === 'delete') sandbox.remove(resourceNamed(prefix + act.target));
}

/** Several starts with one key are one run, so one cancellation cancels all of them. */
function once(runs: PlayedRun[]): PlayedRun[] {
  const byId = new Map<string, PlayedRun>();
  for (const run of runs) {
    const known = byId.get(run.runId);
    const cancelledMs = known?.cancelledMs ?? run.cancelledMs;
    byId.set(run.runId, { ...(known ?? run), cancelledMs });
  }
  return [...byId.values()];
}

function ownJournal({ arena: { sandbox }, prefix }: Stage): Played['journal'] {
  const isOwn = (id: string | undefined) => id?.startsWith(prefix) === true;
  const backups = sandbox.journal.flatMap(({ began }) =>
    began?.kind === 'backup' && isOwn(began.target) ? [began.id] : [],
  );
  return sandbox.journal.filter(({ request, began }) => {
    const backup = /\/backups\/([^/]+)$/.exec(request)?.[1];
    return (
      isOwn(began?.target) ||
      isOwn(/(?:\/|site |app |server )([^/ ]+-[abs]\d)/.exec(request)?.[1]) ||
      backups.includes(backup ?? '')
    );
  });
}

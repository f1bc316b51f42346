/** What goes wrong and what an operator does, at moments that the tape draws. After one of them, nothing goes wrong. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { SIGNALS } from '../../../src/contract/names.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import { onBegun } from './on-begun.ts';
import type { Started } from './record.ts';
import type { Tape } from '../tape.ts';
import type { World } from '../world.ts';

const HINT = payloads.toPayload({ claim: null });
const HINT_PAUSE_MS = 130;

/** @param scale how long the scenario is @param started the runs so far, by their workflow ids */
export function drawMishaps(world: World, tape: Tape, scale: number, started: ReadonlyMap<string, Started>): void {
  const { clock, server } = world;
  const sometimes = (what: string, act: () => void) => {
    if (tape.choose(what, 2) === 1) clock.after(tape.choose('when', 60) * 500 * scale, act);
  };
  const unlessCalm = (what: string, act: () => void) => sometimes(what, () => world.faults && act());
  unlessCalm('server down', () => world.downServer(1_000 + tape.choose('server', 30) * 1_000));
  const downService = () => world.faults && world.downService((1_000 + tape.choose('service', 30) * 1_000) * scale);
  sometimes('service down', downService);
  if (tape.choose('service down after a request', 3) === 2)
    onRequest(world, tape.choose('request', 3), () => clock.after(tape.choose('soon', 10) * 100, downService));
  unlessCalm('workers restart', () => world.restartWorkers(500 + tape.choose('down', 8) * 1_000));

  /** One of those that are open then. Temporal has to be there for it. */
  const onOne = (what: string, isMeant: (run: Run) => boolean, act: (run: Run) => void) =>
    sometimes(what, function now() {
      if (!server.isUp) return void clock.after(1_000, now);
      const open = server.runs.filter((run) => run.closedMs === null && isMeant(run));
      if (open.length > 0) act(open[tape.choose('which', open.length)]!);
    });
  const startedAs = ({ workflowId, runId }: Run) => {
    const it = started.get(workflowId);
    return it?.run.runId === runId ? it : undefined;
  };
  function cancel(run: Run): void {
    startedAs(run)!.cancelledMs ??= clock.nowMs;
    server.requestCancel(run);
  }
  onOne('cancel', (run) => startedAs(run) !== undefined, cancel);
  onOne(
    'terminate a run',
    (run) => startedAs(run) !== undefined,
    (run) => server.terminate(run),
  );
  if (tape.choose('cancel at a hand-over', 2) === 1) {
    server.onSignal = (run, signal) => {
      const isOne = signal === SIGNALS.lockReleased && startedAs(run) !== undefined;
      // Its next task then brings both.
      if (isOne && world.faults && tape.choose('this one', 3) === 2) cancel(run);
    };
  }
  onOne('terminate an operation', isOperation, (run) => server.terminate(run));
  clock.after(tape.choose('calm', 120) * 1_000 * scale, () => world.calm());
  sometimes('hints', () => hintAll(1 + tape.choose('flood', 40)));

  /** Events about all operations, many in a second. */
  function hintAll(times: number): void {
    if (times === 0) return;
    if (server.isUp)
      for (const { closedMs, workflowId } of server.runs.filter(isOperation))
        if (closedMs === null) server.signal({ workflowId }, SIGNALS.hint, [HINT]);
    clock.after(HINT_PAUSE_MS, () => hintAll(times - 1));
  }
}

/** Acts once the service begins an operation that Belay requested. @param skip how many it lets pass before */
function onRequest(world: World, skip: number, act: () => void): void {
  let left = skip;
  onBegun(world, (_began, by) => {
    if (by === 'outside') return;
    if (left === 0) act();
    left -= 1;
  });
}

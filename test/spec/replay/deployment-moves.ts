/** What each action of docs/spec/deployment.qnt is in the simulator. docs/spec/README.md has a table of it. */
import { eventsOf } from '../../sim/stack/inspect.ts';
import type { Action, DeploymentState } from './deployment-model.ts';
import { TICK_MS, TOO_LONG_S, wordOf, type DeploymentStage } from './deployment-stage.ts';

interface Move {
  stage: DeploymentStage;
  /** The run that holds the lock, or begins. */
  number: number;
  before: DeploymentState;
  after: DeploymentState;
}

type Mover = (move: Move) => Promise<void>;

/** It is seen with the request that follows, or with what comes instead of it. */
const later: Mover = () => Promise.resolve();

export const DEPLOYMENT_MOVES: Readonly<Record<Action, Mover>> = {
  async begin({ stage, number }) {
    stage.begin(number);
    await stage.wait(1_000);
  },
  takeBaseline: later,
  send,
  async reconcile({ stage, number, before, after }) {
    if (after.phase.get(number) === 'Ready') return;
    if (after.phase.get(number) === 'Closed') {
      // The code looks a little longer than the model. Nothing that no tick showed may be read then.
      stage.answers(!before.silent);
      await closes({ stage, number }, 'conclude without a trace');
      return stage.answers(true);
    }
    await stage.open(number, 'find a trace', () => stage.isQuiet(stage.operationOf(number)!));
  },
  findBusy: (move) => closes(move, 'find the site busy'),
  concludeLate: (move) => closes(move, 'conclude that it is too late'),
  decide: (move) => closes(move, 'decide'),
  /** The token is rejected until the operation gives up. */
  async giveUp(move) {
    const { state } = move.stage.world.service;
    const { token } = state;
    state.token = 'another';
    await closes(move, 'give up');
    state.token = token;
  },
  async cancel(move) {
    const { stage, number } = move;
    stage.world.server.requestCancel(stage.runs.get(number)!);
    await stage.wait(1_000);
    await closes(move, 'end its work');
  },
  async terminate({ stage, number }) {
    stage.world.server.terminate(stage.operationOf(number)!);
    await stage.wait(1_000);
  },
  end({ stage, before, after }) {
    const index = after.deployments.findIndex((it, at) => it.ended !== before.deployments[at]!.ended);
    const it = stage.deployments()[index]!;
    it.script = { ...it.script, durationMs: 0, ends: wordOf(index) };
    return Promise.resolve();
  },
  async tick({ stage, number, before, after }) {
    after.deployments.forEach(({ lag }, index) => {
      const it = stage.deployments()[index]!;
      if (lag === 0) it.script = { ...it.script, lagMs: 0 };
    });
    if (before.phase.get(number) !== 'Doubt') return stage.wait(TICK_MS);
    stage.answers(!after.silent);
    let isOver = false;
    stage.world.clock.after(TICK_MS, () => (isOver = true));
    await stage.open(number, 'read the status', () => isOver);
    stage.answers(true);
  },
  passDeadline: ({ stage }) => stage.wait(2),
};

/** The answer of a request, and whether it has an effect, are those of the model. */
async function send({ stage, number, before, after }: Move): Promise<void> {
  const { state } = stage.world.service;
  const hasEffect = after.deployments.length > before.deployments.length;
  const isTurnedAway = after.noEffect > before.noEffect;
  const isSpent = isTurnedAway && after.phase.get(number) === 'Closed';
  // A second is more than the time that the request takes.
  const retryAfter = isSpent ? TOO_LONG_S : (after.pause * TICK_MS) / 1_000 + (after.pause > 0 ? 1 : 0);
  // Other answers that ask to wait hold back the reads of this worker as well.
  if (isTurnedAway)
    state.faults.add({ route: 'deploy', answer: { kind: 'status', code: 423, retryAfter: String(retryAfter) } });
  else if (after.ambiguous > before.ambiguous)
    state.faults.add({ route: 'deploy', effect: hasEffect, answer: { kind: 'reset' } });
  const operation = () => stage.operationOf(number)!;
  const answered = () =>
    eventsOf(operation(), 'activityClosed').filter(({ type }) => type === 'triggerDeployment').length;
  const earlier = answered();
  // If it may send again at once, its next request must not follow yet.
  const isBack = after.phase.get(number) === 'Baseline';
  const isDone = () =>
    isSpent ? operation().closedMs !== null : answered() > earlier && (isBack || stage.isQuiet(operation()));
  await stage.open(number, 'send a request', isDone);
  const begun = after.deployments.at(-1);
  const it = stage.deployments().at(-1);
  if (hasEffect && it !== undefined && begun?.lag === 0) it.script = { ...it.script, lagMs: 0 };
}

async function closes({ stage, number }: Pick<Move, 'stage' | 'number'>, what: string): Promise<void> {
  const run = stage.runs.get(number)!;
  await stage.open(number, what, () => run.closedMs !== null);
}

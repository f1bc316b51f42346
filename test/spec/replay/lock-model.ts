/** A state of docs/spec/lock.qnt. */
type Runs<T> = ReadonlyMap<number, T>;

interface Mail {
  isHere: boolean;
  waiters: ReadonlySet<number>;
  backup: number;
}

export interface LockState {
  phase: Runs<string>;
  holder: number;
  queue: ReadonlySet<number>;
  isReleasing: boolean;
  conclusion: string;
  signalled: number;
  since: Runs<number>;
  asked: Runs<number>;
  sawFree: Runs<number>;
  inherited: Runs<ReadonlySet<number>>;
  mail: Runs<Mail>;
  backup: Runs<string>;
  uses: Runs<number>;
  deploys: ReadonlySet<number>;
  closed: ReadonlySet<number>;
}

export const NONE = 0;

/** The run whose step it was: a trace names two, of which either acted. */
export function actorOf(action: string, before: LockState, after: LockState): number {
  if (['create', 'conclude', 'signalFirst', 'close', 'terminate'].includes(action)) return before.holder;
  const changed = (of: (state: LockState, run: number) => unknown) =>
    [...before.phase.keys()].find((run) => text(of(before, run)) !== text(of(after, run)));
  const found =
    action === 'finish'
      ? changed(({ backup }, run) => backup.get(run))
      : action === 'forwardLate'
        ? [...before.mail.keys()].find((run) => before.mail.get(run)!.isHere && !after.mail.get(run)!.isHere)
        : changed(({ phase, asked, sawFree }, run) => [phase.get(run), asked.get(run), sawFree.get(run)]);
  if (found === undefined) throw new Error(`no run does this: ${action}`);
  return found;
}

const text = (value: unknown) => JSON.stringify(value);

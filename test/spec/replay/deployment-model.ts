/** A state of docs/spec/deployment.qnt. */
type Runs<T> = ReadonlyMap<number, T>;

export interface DeploymentState {
  phase: Runs<string>;
  outcome: Runs<'NoOutcome' | 'NotStarted' | 'Unknown' | 'Cancelled' | 'Decided'>;
  holder: number;
  deployments: { by: number; lag: number; ended: boolean }[];
  ambiguous: number;
  noEffect: number;
  requests: Runs<number>;
  pause: number;
  traced: boolean;
  blind: boolean;
  silent: boolean;
  tooLate: boolean;
}

export type Action =
  | 'begin'
  | 'takeBaseline'
  | 'findBusy'
  | 'concludeLate'
  | 'send'
  | 'reconcile'
  | 'cancel'
  | 'decide'
  | 'giveUp'
  | 'terminate'
  | 'end'
  | 'tick'
  | 'passDeadline';

/** Quint names the innermost action, which for a request is a part of `send`. */
export function actionOf(named: string, before: DeploymentState, after: DeploymentState): Action {
  const holder = before.holder;
  return after.requests.get(holder) === before.requests.get(holder) ? (named as Action) : 'send';
}

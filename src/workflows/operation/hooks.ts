/** What hangs on an operation. The core asks the members of these lists in their order, and knows none of them. */
import type { DeploySiteInput, OperationInput, OperationProgress } from '../../contract/operation.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { CommitEvidence } from '../../rules/verdict.ts';
import type { Conclusion } from '../conclusion.ts';
import type { SettleQueue } from '../lock/release.ts';
import type { Poller } from '../polling/poller.ts';
import type { Operation } from './run-operation.ts';

/** Judges a deployment that the service calls completed. */
export interface DeploymentCheck {
  /** Looks just before the request. What is broken then blocks nothing: the deployment may repair it. */
  takeBaseline(): Promise<void>;
  /** Drops a baseline that is too old to compare with. */
  forgetBaseline(): void;
  /** Looks while the status decides nothing. @param then called if there is more to see than before */
  look: (then: () => void) => void;
  readonly shown: CommitEvidence | null;
  /** Whether to wait for another look that may find evidence of `identity`. Each yes uses one of the tries of the check. */
  awaitsIdentity(): boolean;
  judge(conclusion: Conclusion): Promise<Conclusion>;
}

/** The deployment of an operation, or one that a run watches. */
export type CheckedOperation = Poller<DeploymentResult> & Pick<Operation<DeploymentResult>, 'setPhase'>;

/** @returns undefined if the deployment has nothing of that kind to check */
export type CreateCheck = (
  operation: CheckedOperation,
  input: Pick<DeploySiteInput, 'service' | 'check'>,
) => DeploymentCheck | undefined;

export interface OperationHooks {
  /** The first one that has something to check is the check of the deployment. */
  checks: readonly CreateCheck[];
  /** Called whenever something that the operation shows has changed. */
  observers: readonly ((progress: OperationProgress) => { changed(): void })[];
  settleQueue: (input: OperationInput) => SettleQueue;
  /** What may end a deployment before it has sent its request. */
  endings: readonly ((operation: Pick<Operation<DeploymentResult>, 'cancellation'>) => void)[];
}

export const firstCheck = (
  checks: OperationHooks['checks'],
  ...of: Parameters<CreateCheck>
): DeploymentCheck | undefined => checks.map((create) => create(...of)).find((it) => it !== undefined);

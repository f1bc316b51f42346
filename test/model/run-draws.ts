/** Draws the input of a run. */
import fc from 'fast-check';
import type { RunInput } from '../../src/contract/run.ts';
import type { RunType } from '../../src/contract/names.ts';
import { targetsInput } from '../../src/contract/target.ts';
import { between, chance, TARGETS } from './chance.ts';
import type { Mix } from './mix.ts';
import { targetNamed } from './targets.ts';

export interface RunDraw {
  type: RunType;
  /** With names instead of ids. */
  input: RunInput;
  /** The same key is the same run. */
  key: string;
  again: boolean;
  /** Adopt the backup that another user began. */
  given: boolean;
  /** Override the freezes that hold when it starts. */
  overrides?: boolean;
}

/** A repeated key has the same input, or it would be rejected. */
export const sameForSameKey = (runs: RunDraw[]): RunDraw[] =>
  runs.map((run) => (run.key !== '' && run.again ? runs.find(({ key }) => key === run.key)! : run));

export function run(mix: Mix): fc.Arbitrary<RunDraw> {
  const intervalMs = between(150, 400);
  const backup = fc.record(
    { intervalMs, tries: fc.constantFrom(4, 20, 30), maxAgeMs: fc.constantFrom(500, 60_000) },
    { requiredKeys: ['intervalMs', 'tries'] },
  );
  const required = ['intervalMs', 'tries', 'baselineWaitMs'] as const;
  const evidence = chance(15, fc.constantFrom('identity', 'transition', 'changed', 'settled'));
  const onAmbiguous = chance(15, fc.constantFrom('stop', 'resend'));
  const deploy = fc
    .tuple(
      fc.record(
        { intervalMs, tries: fc.constantFrom(6, 20, 50, 70), baselineWaitMs: between(500, 6_000) },
        { requiredKeys: [...required] },
      ),
      evidence,
      onAmbiguous,
    )
    .map(([pace, minEvidence, after]) => ({
      ...pace,
      ...(minEvidence === null ? {} : { minEvidence }),
      ...(after === null ? {} : { onAmbiguous: after }),
    }));
  const names = fc.oneof(
    { weight: mix.oneSite, arbitrary: fc.constant<string[]>(['a1']) },
    { weight: 100 - mix.oneSite, arbitrary: fc.shuffledSubarray(TARGETS, { minLength: 1, maxLength: 3 }) },
  );
  return fc
    .record({
      kind: fc.constantFrom('run', 'run', 'run', 'deploy', 'deploy', 'backup'),
      server: fc.constantFrom('s1', 's1', 's1', 's2'),
      names,
      backup,
      deploy,
      key: chance(20, fc.constantFrom('k1', 'k2')),
      again: fc.boolean(),
      given: chance(8, fc.constant(true)),
      ifBusy: chance(15, fc.constant('fail' as const)),
      busyTimeoutMs: chance(15, between(500, 8_000)),
      keepGoing: fc.boolean(),
    })
    .map(runDraw);
}

interface Drawn {
  kind: string;
  server: string;
  names: string[];
  backup: NonNullable<RunInput['backup']>;
  deploy: NonNullable<RunInput['deploy']>;
  key: string | null;
  again: boolean;
  given: true | null;
  ifBusy: 'fail' | null;
  busyTimeoutMs: number | null;
  keepGoing: boolean;
}

function runDraw({ kind, server, names, backup, deploy, ...rest }: Drawn): RunDraw {
  const [backsUp, deploys] = [kind !== 'deploy', kind !== 'backup'];
  return {
    type: kind === 'run' ? 'backupThenDeploy' : kind === 'backup' ? 'backupOnly' : 'deployOnly',
    key: rest.key ?? '',
    again: rest.again,
    given: backsUp && rest.given === true,
    input: {
      ...targetsInput(deploys ? names.map(targetNamed) : []),
      ...(backsUp ? { serverId: server, backup } : {}),
      ...(deploys ? { deploy } : {}),
      ...(rest.ifBusy === null ? {} : { ifBusy: rest.ifBusy }),
      ...(rest.busyTimeoutMs === null ? {} : { busyTimeoutMs: rest.busyTimeoutMs }),
      keepGoing: rest.keepGoing,
    },
  };
}

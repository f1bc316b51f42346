/** `belay gates try` measures a gate once from this machine, and starts nothing. */
import { printAnswer } from '../../process/json-document.ts';
import { requireConfiguration, type Configuration } from '../../config/load.ts';
import { planRollout } from '../rollouts/config-plan.ts';
import type { Measurement } from './shapes.ts';
import { configFile } from '../../config/environment/environment.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import type { RolloutWave } from '../rollouts/shapes.ts';
import { isApp, targetsOf } from '../../contract/target.ts';
import { measureByRule } from './worker.ts';
import { policyOf } from '../../config/policy.ts';
import { readPage } from '../../site-check/index.ts';

export interface TryOptions {
  rollout?: string;
  wave?: string;
  json?: boolean;
}

/** @throws BelayError `Usage` if there is no such gate or wave, ConfigError if its address or token is missing */
export async function tryOnce(gate: string, { json, ...asked }: TryOptions): Promise<void> {
  const configuration = await requireConfiguration();
  const policy = policyOf(configuration);
  const found = policy.gate(gate);
  if (found === null) {
    const known = Object.keys(configuration.gates ?? {}).join(', ') || 'none: add it under gates';
    throw new BelayError('Usage', `${configFile().path} has no gate ${gate}; it has ${known}`);
  }
  const { rollout, wave } = waveToMeasure(configuration, gate, asked);
  const serverIds = wave.targets.map(({ serverId }) => serverId);
  const siteIds = wave.targets.flatMap(targetsOf).flatMap((it) => (isApp(it) ? [] : [it.id]));
  const { bakeMs = 0 } = wave.after ?? {};
  // In a rollout, at least this much time lies between the first request and the first measurement.
  const seconds = Math.max(MIN_SECONDS, (bakeMs + found.plan.initialDelayMs) / 1_000);
  const words = { hosts: policy.hostsOf(siteIds), sites: siteIds, servers: serverIds, wave: [wave.name], seconds };
  const measured = await measureByRule(found, found.plan.rule, words, readPage);
  const { shown, exitCode } = ENDS[measured.state];
  printAnswer(json, { gate, rollout, wave: wave.name, ...measured }, [
    `gate ${gate} after wave ${wave.name} of rollout ${rollout}`,
    `${shown}: ${measured.text}`,
  ]);
  process.exitCode = exitCode;
}

const ENDS: Record<Measurement['state'], { shown: string; exitCode: number }> = {
  good: { shown: 'good', exitCode: EXIT.completed },
  bad: { shown: 'bad', exitCode: EXIT.failed },
  none: { shown: 'neither good nor bad', exitCode: EXIT.unknown },
  error: { shown: 'not measured', exitCode: EXIT.unknown },
  refused: { shown: 'not measured', exitCode: EXIT.unknown },
};

interface WaveOfRollout {
  rollout: string;
  wave: RolloutWave;
}

const MIN_SECONDS = 60;

function waveToMeasure(configuration: Configuration, gate: string, asked: TryOptions): WaveOfRollout {
  const names = asked.rollout === undefined ? Object.keys(configuration.rollouts ?? {}) : [asked.rollout];
  const waves = names.flatMap((rollout) =>
    planRollout(configuration, rollout).waves.map((wave): WaveOfRollout => ({ rollout, wave })),
  );
  const fits = ({ wave: { name, after } }: WaveOfRollout) =>
    asked.wave === undefined ? after?.gates?.includes(gate) === true : name === asked.wave;
  const found = waves.find(fits) ?? (asked.wave === undefined ? waves[0] : undefined);
  if (found !== undefined) return found;
  const problem = asked.wave === undefined ? 'no rollout' : `no wave ${asked.wave}`;
  throw new BelayError('Usage', `belay.yaml has ${problem}: name one with --rollout and --wave`);
}

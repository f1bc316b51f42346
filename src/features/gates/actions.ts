/** `belay gates try` measures a gate once from this machine, and starts nothing. */
import { printAnswer } from '../../process/json-document.ts';
import { requireConfiguration, type Configuration } from '../../config/load.ts';
import { planRollout } from '../../config/rollout-plan.ts';
import type { Measurement } from './shapes.ts';
import { configFile } from '../../config/environment/environment.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import type { RolloutWave } from '../rollouts/shapes.ts';
import { measureByRule, sitesOf } from './worker.ts';
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
  const waves = allWaves(configuration);
  const chosen = waveToMeasure(waves, gate, asked);
  const { rollout, wave } = chosen;
  const serverIds = wave.targets.map(({ serverId }) => serverId);
  const { bakeMs = 0 } = wave.after ?? {};
  // In a rollout, at least this much time lies between the first request and the first measurement.
  const seconds = Math.max(MIN_SECONDS, (bakeMs + found.plan.initialDelayMs) / 1_000);
  const about = { wave: wave.name, serverIds, siteIds: sitesOf(wave), seconds };
  const measured = await measureByRule(found, found.plan.rule, about, { hostsOf: policy.hostsOf, getPage: readPage });
  const { shown, exitCode } = ENDS[measured.state];
  printAnswer(json, { gate, rollout, wave: wave.name, ...measured }, [
    headLine(gate, chosen, waves),
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

const has = (gate: string, { wave }: WaveOfRollout): boolean => wave.after?.gates?.includes(gate) === true;
const waveText = ({ rollout, wave }: WaveOfRollout): string => `wave ${wave.name} of rollout ${rollout}`;

/** A gate can be tried before a wave has it, so the first line of the answer says where the gate is. */
function headLine(gate: string, measured: WaveOfRollout, waves: readonly WaveOfRollout[]): string {
  if (has(gate, measured)) return `gate ${gate} after ${waveText(measured)}`;
  const others = waves.filter((it) => has(gate, it)).map(waveText);
  const where = others.length === 0 ? 'no wave has it' : `it is after ${others.join(' and ')}`;
  return `gate ${gate}, measured for ${waveText(measured)}, which does not have it: ${where}`;
}

const allWaves = (configuration: Configuration): WaveOfRollout[] =>
  Object.keys(configuration.rollouts ?? {}).flatMap((rollout) =>
    planRollout(configuration, rollout).waves.map((wave) => ({ rollout, wave })),
  );

function waveToMeasure(all: readonly WaveOfRollout[], gate: string, asked: TryOptions): WaveOfRollout {
  const ofRollout = all.filter(({ rollout }) => asked.rollout === undefined || rollout === asked.rollout);
  const fitting = ofRollout.filter(({ wave }) => asked.wave === undefined || wave.name === asked.wave);
  const found = fitting.find((it) => has(gate, it)) ?? fitting[0];
  if (found !== undefined) return found;
  const { path } = configFile();
  if (all.length === 0) throw new BelayError('Usage', `${path} has no rollout, whose wave could be measured: add one`);
  const [missing, known] =
    ofRollout.length === 0
      ? [`rollout ${asked.rollout}`, [...new Set(all.map(({ rollout }) => rollout))]]
      : [`wave ${asked.wave}`, ofRollout.map(waveText)];
  throw new BelayError('Usage', `${path} has no ${missing}; it has ${known.join(', ')}`);
}

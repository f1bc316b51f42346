/**
 * `npm run test:sim -- --seeds N --from S` plays these seeds on all cores, and without `--seeds` until it is stopped. It
 * exits 0 only if nothing was found. `--story` prints what happened in each play. `--tape FILE` plays a kept tape.
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleFromSource } from '../../src/worker/bundle/bundle-from-source.ts';
import { check, checkSeed, type Checked } from './checks/check-seed.ts';
import { checkOtherPlays } from './checks/check-other-plays.ts';
import { openSandboxes, type Sandboxes } from './core/sdk.ts';
import { keptText, readKept } from './shrink/kept.ts';
import { play } from './plays/play.ts';
import { shrinkFinding } from './shrink/shrink-finding.ts';
import { notMet, situationsIn } from './checks/situations.ts';
import { storyOf } from './plays/story.ts';
import { recordedTape } from './tape.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    story: { type: 'boolean', default: false },
    /** Makes the first failing play of each process as simple as it can be. */
    shrink: { type: 'boolean', default: true },
    tape: { type: 'string' },
    /** Only every n-th seed: one of several processes. */
    step: { type: 'string' },
    bundle: { type: 'string' },
  },
  allowNegative: true,
});

const [from, step] = [Number(values.from), Number(values.step ?? 1)];
const end = values.seeds === undefined ? Infinity : from + Number(values.seeds);

/** Sent to the process that started this one. */
interface Report {
  seed: number;
  findings: string[];
  situations: string[];
}

/** A batch of this size meets every situation, or the draws have become too tame. */
const MEETS_EVERYTHING = 5_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function playOwn(codePath: string): Promise<void> {
  const sandboxes = await openSandboxes(codePath);
  let hasShrunk = !values.shrink;
  for (let seed = from; seed < end; seed += step) {
    const checked = await checkSeed(sandboxes, seed);
    const findings = [...checked.findings, ...(await checkOtherPlays(sandboxes, seed))];
    if (values.story) say(storyOf(checked.play));
    process.send?.({ seed, findings, situations: situationsIn(checked.play) } satisfies Report);
    if (hasShrunk || checked.findings.length === 0) continue;
    hasShrunk = true;
    await keep(sandboxes, seed, checked);
  }
  process.disconnect?.();
}

async function keep(sandboxes: Sandboxes, seed: number, checked: Checked): Promise<void> {
  const small = await shrinkFinding(sandboxes, checked);
  if (small === null) return;
  const file = join(tmpdir(), `belay-sim-${seed}.json`);
  writeFileSync(file, keptText(`seed ${seed}: ${checked.findings[0]}`, small));
  const played = await play(sandboxes, small.scenario, recordedTape(small.choices));
  say(`seed ${seed}, shrunk to ${file}, which belongs in test/sim/kept:\n${storyOf(played)}`);
}

async function playTape(file: string): Promise<number> {
  const sandboxes = await openSandboxes(await bundleFromSource());
  const { scenario, choices } = readKept(file);
  const { findings, play: played } = await check(sandboxes, scenario, () => recordedTape(choices));
  await sandboxes.close();
  say([storyOf(played), ...findings].join('\n'));
  return findings.length;
}

async function playOnAllCores(codePath: string): Promise<number> {
  const begunMs = performance.now();
  const cores = Math.min(availableParallelism(), end - from);
  let [played, found] = [0, 0];
  const met = new Set<string>();
  const onReport = ({ seed, findings, situations }: Report) => {
    played += 1;
    for (const situation of situations) met.add(situation);
    found += findings.length;
    for (const finding of findings) say(`seed ${seed}: ${finding}`);
  };
  const processes = Array.from({ length: cores }, (_, index) => {
    const args = ['--from', String(from + index), '--step', String(cores), '--bundle', codePath];
    if (values.seeds !== undefined) args.push('--seeds', String(Math.max(0, Number(values.seeds) - index)));
    if (values.story) args.push('--story');
    if (!values.shrink) args.push('--no-shrink');
    const child = fork(fileURLToPath(import.meta.url), args).on('message', onReport);
    return new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  });
  const broken = (await Promise.all(processes)).filter((code) => code !== 0).length;
  if (broken > 0) say(`${broken} processes ended with an error`);
  const missed = notMet(met);
  for (const situation of missed) say(`not met: ${situation}`);
  say(`${played} seeds, ${found} findings, ${Math.round((performance.now() - begunMs) / 1_000)} s`);
  return found + broken + (played < MEETS_EVERYTHING ? 0 : missed.length);
}

if (values.bundle !== undefined) await playOwn(values.bundle);
else if (values.tape !== undefined) process.exitCode = (await playTape(values.tape)) === 0 ? 0 : 1;
else process.exitCode = (await playOnAllCores(await bundleFromSource())) === 0 ? 0 : 1;

/**
 * `npm run test:sim -- --seeds N --from S` plays these seeds on all cores, and without `--seeds` until it is stopped. It
 * exits 0 only if nothing was found. `--story` prints what happened in each play. `--tape FILE` plays a kept tape.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleFromSource } from '../../src/worker/bundle/bundle-from-source.ts';
import { ALIVE_MS, playBatch, print, type Message } from './batch.ts';
import { check, checkSeed, type Checked } from './checks/check-seed.ts';
import { checkOtherPlays } from './checks/check-other-plays.ts';
import { openSandboxes, type Sandboxes } from './core/sdk.ts';
import { keptText, readKept } from './shrink/kept.ts';
import { play } from './plays/play.ts';
import { shrinkFinding } from './shrink/shrink-finding.ts';
import { situationsIn } from './checks/situations.ts';
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
const seeds = values.seeds === undefined ? Infinity : Number(values.seeds);

const send = (message: Message) => process.send?.(message);

async function playOwn(codePath: string): Promise<void> {
  const sandboxes = await openSandboxes(codePath);
  // Without the process that started it, it has no one to report to.
  process.once('disconnect', () => process.exit());
  const alive = setInterval(() => send({ kind: 'alive' }), ALIVE_MS);
  let hasShrunk = !values.shrink;
  for (let seed = from; seed < from + seeds; seed += step) {
    send({ kind: 'begins', seed });
    const checked = await checkSeed(sandboxes, seed);
    const findings = [...checked.findings, ...(await checkOtherPlays(sandboxes, seed))];
    if (values.story) print(storyOf(checked.play));
    send({ kind: 'played', findings, situations: situationsIn(checked.play) });
    if (hasShrunk || checked.findings.length === 0) continue;
    hasShrunk = true;
    await keep(sandboxes, seed, checked);
  }
  clearInterval(alive);
  process.disconnect?.();
}

async function keep(sandboxes: Sandboxes, seed: number, checked: Checked): Promise<void> {
  const small = await shrinkFinding(sandboxes, checked);
  if (small === null) return;
  const file = join(tmpdir(), `belay-sim-${seed}.json`);
  writeFileSync(file, keptText(`seed ${seed}: ${checked.findings[0]}`, small));
  const played = await play(sandboxes, small.scenario, recordedTape(small.choices));
  print(`seed ${seed}, shrunk to ${file}, which belongs in test/sim/kept:\n${storyOf(played)}`);
}

async function playTape(file: string): Promise<number> {
  const sandboxes = await openSandboxes(await bundleFromSource());
  const { scenario, choices } = readKept(file);
  const { findings, play: played } = await check(sandboxes, scenario, () => recordedTape(choices));
  await sandboxes.close();
  print([storyOf(played), ...findings].join('\n'));
  return findings.length;
}

async function playOnAllCores(): Promise<number> {
  const flags = [...(values.story ? ['--story'] : []), ...(values.shrink ? [] : ['--no-shrink'])];
  return playBatch({ from, seeds, codePath: await bundleFromSource(), flags });
}

if (values.bundle !== undefined) await playOwn(values.bundle);
else process.exitCode = (await (values.tape === undefined ? playOnAllCores() : playTape(values.tape))) === 0 ? 0 : 1;

/** Some seeds also play a rollout, a schedule, or runs that wait for people, which the scenarios of the chaos model do not have. */
import type { Sandboxes } from '../core/sdk.ts';
import type { Caches } from '../plays/play.ts';
import { playRollout } from '../plays/rollout-play.ts';
import { playSchedule } from '../plays/schedule-play.ts';
import { playWaits } from '../plays/waits-play.ts';
import { seededTape, type Tape } from '../tape.ts';
import type { World } from '../world.ts';
import { fingerprint } from './check-seed.ts';

type PlayOne<P> = (sandboxes: Sandboxes, tape: Tape, caches: Caches) => Promise<P>;

interface PlayedOne {
  world: World;
  findings: string[];
}

/** Of ten seeds in a row, one plays each of these. */
const PLAYS: Partial<Record<number, [name: string, playOne: PlayOne<PlayedOne>]>> = {
  0: ['rollout', playRollout],
  3: ['waits', playWaits],
  5: ['schedule', playSchedule],
};

/** @returns everything that is wrong with the rollout or schedule of this seed, if it has one */
export async function checkOtherPlays(sandboxes: Sandboxes, seed: number): Promise<string[]> {
  const found = PLAYS[seed % 10];
  if (found === undefined) return [];
  const [name, playOne] = found;
  const { findings } = await playTwice(sandboxes, seed, playOne);
  return findings.map((it) => `${name}: ${it}`);
}

/** Plays a seed with caches and again. @returns the first play, and everything that is wrong with the two */
export async function playTwice<P extends PlayedOne>(
  sandboxes: Sandboxes,
  seed: number,
  playOne: PlayOne<P>,
  second: Caches = 'off',
) {
  const first = await playOne(sandboxes, seededTape(seed), 'drawn');
  const again = await playOne(sandboxes, seededTape(seed), second);
  const findings = [...new Set([...first.findings, ...again.findings])];
  if (fingerprint(first.world) !== fingerprint(again.world))
    findings.push(second === 'off' ? 'caches change what happens' : 'the same seed played twice differs');
  return { first, findings };
}

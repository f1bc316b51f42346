/** Which approvals are asked for before a whole rollout, and which before one of its waves. Pure. */

interface WaveNeeds {
  wave: string;
  /** The approval that the wave names. */
  named?: string | undefined;
  /** Names of approvals that its operations need. */
  needed: readonly string[];
}

interface AskedWhen {
  /** Names, without repetition. */
  before: string[];
  ofWaves: { wave: string; name: string }[];
}

/**
 * What a wave asks for is not asked before, unless the rollout names it or other waves need it as well.
 * @param named the approvals that the rollout names
 */
export function askedWhen(named: string | readonly string[] | undefined, waves: readonly WaveNeeds[]): AskedWhen {
  const names = [named ?? []].flat();
  const needed = waves.flatMap((wave) => wave.needed.filter((name) => name !== wave.named || names.includes(name)));
  return {
    before: [...new Set([...needed, ...names])],
    ofWaves: waves.flatMap(({ wave, named: name }) => (name === undefined ? [] : [{ wave, name }])),
  };
}

/** Draws traces of the modules, and replays them with the workflows in the simulator. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withBrokenCopy } from '../mutants/broken-copy.ts';
import { drawTraces } from './quint.ts';
import { readTraces } from './replay/itf.ts';
import { BROKEN_CODE, type BrokenCode, type Replay } from './replays.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** @returns the divergences, the actions that no trace contains, and the broken rules that the replay does not notice */
export async function checkReplay(replay: Replay, say: (text: string) => void): Promise<string[]> {
  const { main, actions } = replay;
  const folder = await mkdtemp(join(tmpdir(), 'belay-traces-'));
  try {
    await drawTraces(replay, folder);
    const traces = readTraces(folder);
    const steps = traces.flatMap((trace) => trace.slice(1));
    const missed = actions.filter((action) => !steps.some((step) => step.action === action));
    const divergences = await divergencesOf(ROOT, main, folder);
    say(`${main}: ${traces.length} traces, ${steps.length} steps replayed, ${divergences.length} divergences`);
    const problems = [...divergences, ...missed.map((action) => `${main}: no trace to replay contains ${action}`)];
    for (const broken of BROKEN_CODE.filter((it) => it.main === main))
      problems.push(...(await checkBrokenCode(broken, folder, say)));
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkBrokenCode(
  { main, rule, changes }: BrokenCode,
  traces: string,
  say: (text: string) => void,
): Promise<string[]> {
  const found = await withBrokenCopy(changes, (copy) => divergencesOf(copy, main, traces, ['--first']));
  say(`${found.length > 0 ? 'diverges' : 'SURVIVED'}: ${main}, without: ${rule}`);
  return found.length > 0 ? [] : [`the replay of ${main} does not notice that this is broken: ${rule}`];
}

/** @param root of the project, or of a copy of it @throws Error if the replay itself fails */
async function divergencesOf(root: string, main: string, traces: string, more: string[] = []): Promise<string[]> {
  const program = ['--import', './tools/typescript.js', 'test/spec/replay/run.ts'];
  const args = [...program, '--main', main, '--traces', traces, ...more];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const found = stdout.split('\n').filter((line) => line.startsWith(`${main}, trace`));
      if (error !== null && found.length === 0)
        reject(new Error(`the replay of ${main} failed: ${stderr.slice(-2_000)}`));
      else resolve(found);
    });
  });
}

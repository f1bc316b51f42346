/** People who decide by the command line, with keys and signatures of the real `ssh-keygen`. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannedPart } from '../../src/features/approvals/shapes.ts';
import { eventually } from './eventually.ts';
import type { runInProcess } from './in-process.ts';
import { tempFolder } from './temporal.ts';

export type BelayCommand = (...args: string[]) => ReturnType<typeof runInProcess>;

export interface People {
  /** The file of allowed signers. */
  signers: string;
  /** The file of the key of each. */
  keys: Record<string, string>;
  /** The options of a command by which this person decides. */
  as: (name: string) => string[];
}

/** @param strangers have a key, and are no signers */
export async function newPeople(names: readonly string[], strangers: readonly string[] = []): Promise<People> {
  const folder = await tempFolder();
  const keys: Record<string, string> = {};
  const lineOf = (name: string): string => {
    const file = join(folder, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
    keys[name] = file;
    return `${name}@example.com ${readFileSync(`${file}.pub`, 'utf8')}`;
  };
  const signers = join(folder, 'allowed_signers');
  writeFileSync(signers, names.map(lineOf).join(''));
  strangers.forEach(lineOf);
  return { signers, keys, as: (name) => ['--by', `${name}@example.com`, '--key', keys[name] ?? ''] };
}

export interface ListedQuestion {
  workflowId: string;
  plan: string;
  does: string[];
  parts: PlannedPart[];
  asked: { name: string; by: string[] }[];
}

/** What a run or rollout asks, once it does. */
export async function questionOf(belay: BelayCommand, workflowId: string): Promise<ListedQuestion> {
  return eventually(`the question of ${workflowId}`, async () => {
    const { approvals } = JSON.parse((await belay('approvals', '--json')).stdout) as { approvals: ListedQuestion[] };
    // A run that does not answer in time is listed without its plan.
    return approvals.find((it) => it.workflowId === workflowId && 'plan' in it && it.plan !== null) ?? null;
  });
}

/** Runs the scripts of the GitHub Action and of the GitLab template as their runners do, each in a folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { environment } from './processes.ts';
import { ROOT } from './readme.ts';
import { tempFolder } from './temporal.ts';
import type { Step } from './workflows.ts';

const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

interface Input {
  default?: string;
  options?: string[];
}

export const ACTION = parse(read('deploy/github-action/action.yml')) as {
  inputs: Record<string, Input>;
  outputs: Record<string, { value: string }>;
  runs: { steps: Step[] };
};

export interface GitlabJob {
  variables: Record<string, { value: string; expand: boolean }>;
  before_script: string[];
  script: string[];
  after_script: string[];
}

const [header, body] = parseAllDocuments(read('templates/belay.yml')).map((it) => it.toJS() as unknown);
export const GITLAB_INPUTS = (header as { spec: { inputs: Record<string, Input> } }).spec.inputs;
export const GITLAB_JOB = Object.values(body as Record<string, GitlabJob>)[0]!;

/** By name. */
export type Inputs = Record<string, string>;

export interface FinishedJob {
  /** Of the script that calls Belay. */
  code: number | null;
  log: string;
  outputs: Record<string, string>;
  /** Empty if none was written. */
  summary: string;
  folder: string;
}

/** @param program what `node_modules/.bin/belay` leads to */
async function projectWith(program: string): Promise<string> {
  const folder = await tempFolder();
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(program, join(folder, 'node_modules/.bin/belay'));
  return folder;
}

async function execute([shell = '', ...args]: string[], script: string, cwd: string, env: Record<string, string>) {
  const child = spawn(shell, [...args, '-c', script], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (log += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, log };
}

const contentOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

function pairsIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => [line.split('=')[0]!, line.slice(line.indexOf('=') + 1)]));
}

function mapValues<T>(record: Record<string, T>, valueOf: (it: T) => string): Inputs {
  return Object.fromEntries(Object.entries(record).map(([name, it]) => [name, valueOf(it)]));
}

/** A job of GitHub with one step that uses the action. */
export async function runGithubAction(program: string, inputs: Inputs, env: Inputs = {}): Promise<FinishedJob> {
  const folder = await projectWith(program);
  const [output, summary] = [join(folder, 'output'), join(folder, 'summary')];
  writeFileSync(output, '');
  const own = { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary, RUNNER_TEMP: folder };
  const job = { GITHUB_RUN_ID: '4711', GITHUB_JOB: 'release', GITHUB_ACTION: '__belay_2', ...own, ...env };
  const finished = [];
  for (const { run = '', env: given = {} } of ACTION.runs.steps) {
    const values = mapValues(given, (expression) => evaluated(expression, inputs));
    const shell = ['bash', '--noprofile', '--norc', '-eo', 'pipefail'];
    finished.push(await execute(shell, run, folder, { ...job, ...values }));
  }
  const [{ code } = { code: null }] = finished;
  const log = finished.map((it) => it.log).join('');
  return { code, log, outputs: pairsIn(contentOf(output)), summary: contentOf(summary), folder };
}

/** GitHub evaluates an expression in `env` to a value, which no shell reads. */
function evaluated(expression: string, inputs: Inputs): string {
  const [, name = ''] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression) ?? [];
  return inputs[name] ?? ACTION.inputs[name]!.default!;
}

/** The job of GitLab's template, without the commands that install Belay. */
export async function runGitlabJob(
  program: string,
  inputs: Inputs,
  env: Inputs = {},
  shell = 'sh',
): Promise<FinishedJob> {
  const folder = await projectWith(program);
  const variables = mapValues(GITLAB_JOB.variables, ({ value }) =>
    value.replace(
      /\$\[\[ inputs\.([\w-]+) \]\]/g,
      (_all, name: string) => inputs[name] ?? GITLAB_INPUTS[name]!.default!,
    ),
  );
  const job = { CI_PIPELINE_ID: '4711', CI_JOB_NAME_SLUG: 'belay', ...variables, ...env };
  const { code, log } = await execute([shell, '-e'], GITLAB_JOB.script.join('\n'), folder, job);
  const after = await execute([shell, '-e'], GITLAB_JOB.after_script.join('\n'), folder, job);
  const outputs = pairsIn(contentOf(join(folder, 'belay.env')));
  return { code, log: log + after.log, outputs, summary: contentOf(join(folder, 'belay.md')), folder };
}

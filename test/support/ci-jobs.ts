/** Runs the scripts of the GitHub Action and of the GitLab template as their runners do, each in a folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { environment } from './processes.ts';
import { ROOT } from './readme.ts';
import { tempFolder } from './temporal.ts';

const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

interface Input {
  default?: string;
  options?: string[];
}

export const ACTION = parse(read('deploy/github-action/action.yml')) as {
  inputs: Record<string, Input>;
  outputs: Record<string, { description: string }>;
  runs: { using: string; main: string; post: string; 'post-if': string };
};

export interface GitlabJob {
  variables: Record<string, { value: string; expand: boolean }>;
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

/** A file that runs the program, as the one file of belay-cli does. */
const fileFor = (program: string) => `await import(${JSON.stringify(pathToFileURL(program).href)});\n`;

async function execute([program = '', ...args]: string[], cwd: string, env: Inputs, signal?: AbortSignal) {
  const child = spawn(program, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  // As a runner does when the job is cancelled.
  signal?.addEventListener('abort', () => child.kill('SIGINT'));
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

/** @returns what the step left for the one after the job. @param program null: the action is not from a release */
export async function runGithubStep(program: string | null, inputs: Inputs, env: Inputs = {}, signal?: AbortSignal) {
  const folder = await tempFolder();
  const { main } = ACTION.runs;
  copyFileSync(fileURLToPath(new URL(`deploy/github-action/${main}`, ROOT)), join(folder, main));
  if (program !== null) writeFileSync(join(folder, 'belay.mjs'), fileFor(program));
  const files = { GITHUB_OUTPUT: 'output', GITHUB_STATE: 'state', GITHUB_STEP_SUMMARY: 'summary' };
  const at = mapValues(files, (name) => join(folder, name));
  const given = Object.entries(ACTION.inputs).map(([name, input]) => [
    `INPUT_${name.toUpperCase()}`,
    inputs[name] ?? input.default ?? '',
  ]);
  const job = { GITHUB_RUN_ID: '4711', GITHUB_JOB: 'release', GITHUB_ACTION: '__belay_2', ...at };
  const step = { ...job, ...(Object.fromEntries(given) as Inputs), ...env };
  const run = [process.execPath, join(folder, main)];
  const { code, log } = await execute(run, folder, step, signal);
  const [output = '', state = '', summary = ''] = Object.values(at).map(contentOf);
  const stateEnv = Object.entries(pairsIn(state)).map(([name, value]) => [`STATE_${name}`, value]);
  return {
    ...{ code, log, outputs: pairsIn(output), summary, folder },
    /** The step after a job that was cancelled. */
    afterwards: () => execute(run, folder, { ...step, ...(Object.fromEntries(stateEnv) as Inputs) }),
  };
}

/** A job of GitHub with one step that uses the action. */
export const runGithubAction = (program: string | null, inputs: Inputs, env: Inputs = {}): Promise<FinishedJob> =>
  runGithubStep(program, inputs, env);

/** The job of GitLab's template, which fetches the program. @param program null: the server has no such file */
export async function runGitlabJob(
  program: string | null,
  inputs: Inputs,
  env: Inputs = {},
  shell = 'sh',
  folder?: string,
): Promise<FinishedJob> {
  folder ??= await tempFolder();
  const file = program === null ? 'not found' : fileFor(program);
  const server = createServer((_, response) => response.writeHead(program === null ? 404 : 200).end(file));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const fetched = {
    BELAY_CLI_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/belay-cli.mjs`,
    BELAY_CLI_SHA256: createHash('sha256').update(file).digest('hex'),
  };
  const variables = mapValues(GITLAB_JOB.variables, ({ value }) =>
    value.replace(
      /\$\[\[ inputs\.([\w-]+) \]\]/g,
      (_all, name: string) => inputs[name] ?? GITLAB_INPUTS[name]!.default!,
    ),
  );
  const job = { CI_PIPELINE_ID: '4711', CI_JOB_NAME_SLUG: 'belay', ...fetched, ...variables, ...env };
  const play = (script: string[]) => execute([shell, '-e', '-c', script.join('\n')], folder, job);
  const { code, log } = await play(GITLAB_JOB.script);
  const after = await play(GITLAB_JOB.after_script);
  server.close();
  const outputs = pairsIn(contentOf(join(folder, 'belay.env')));
  return { code, log: log + after.log, outputs, summary: contentOf(join(folder, 'belay.md')), folder };
}

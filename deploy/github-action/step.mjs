/** The step of the action, and what follows it when the job is cancelled. Inputs become arguments: no shell reads them. */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('belay.mjs', import.meta.url));
const USAGE = 2;

const { env } = process;
const input = (name) => env[`INPUT_${name.toUpperCase()}`] ?? '';
const lines = (name) =>
  input(name)
    .split(/\r?\n/)
    .filter((line) => line !== '');
const oneLine = (value) => String(value ?? '').replaceAll(/[\r\n]+/g, ' ');
const write = (file, values) =>
  appendFileSync(
    file,
    Object.entries(values)
      .map(([name, value]) => `${name}=${oneLine(value)}\n`)
      .join(''),
  );

function refuse(message) {
  process.stderr.write(`belay: ${message}\n`);
  process.exit(USAGE);
}

/** "=" keeps a value that begins with "-" from being read as an option. */
function commandLine() {
  const key = input('key') || `${env.GITHUB_RUN_ID}-${env.GITHUB_JOB}-${env.GITHUB_ACTION}`;
  return [
    ...[input('command'), '--json', `--key=${key}`, '--again', `--summary=${env.GITHUB_STEP_SUMMARY}`],
    ...(input('server') === '' ? [] : [`--server=${input('server')}`]),
    ...lines('sites').map((id) => `--site=${id}`),
    ...lines('apps').map((id) => `--app=${id}`),
    ...lines('options'),
  ];
}

function run() {
  if (!existsSync(PROGRAM)) refuse('this revision of the action has no program: use the tag of a release');
  if (!['true', 'false'].includes(input('cancel-with-job')))
    refuse(`cancel-with-job is ${JSON.stringify(input('cancel-with-job'))}: give true or false`);
  const child = spawn(process.execPath, [PROGRAM, ...commandLine()], {
    cwd: input('working-directory'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // GitHub signals this process only, and kills it ten seconds later.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  child.once('error', ({ message }) => refuse(message));
  child.once('close', (code, signal) => {
    process.stdout.write(printed);
    // As shells report it: 1 would say that the deployment failed.
    process.exitCode = code ?? 128 + constants.signals[signal];
    const document = documentIn(printed);
    if (document !== null) report(document);
  });
}

/** A program that was asked for its help, or killed, prints no document. */
function documentIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function report({ outcome, workflowId, runId, attached, links }) {
  write(env.GITHUB_OUTPUT, { outcome, 'workflow-id': workflowId, 'run-id': runId, link: links?.ui });
  // A run that another step had started is not this job's to cancel.
  if (attached === false && runId !== null) write(env.GITHUB_STATE, { workflowId, runId });
}

function cancel({ STATE_workflowId: workflowId, STATE_runId: runId }) {
  if (input('cancel-with-job') !== 'true' || !runId) return;
  const args = [PROGRAM, 'cancel', workflowId, `--run-id=${runId}`];
  // Paths of certificates and keys may be relative.
  process.exitCode =
    spawnSync(process.execPath, args, { cwd: input('working-directory'), stdio: 'inherit' }).status ?? 1;
}

if (env.STATE_step === 'done') cancel(env);
else {
  write(env.GITHUB_STATE, { step: 'done' });
  run();
}

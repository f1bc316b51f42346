/** The log of long-running programs: JSON lines on stderr, because stdout is for results. */
import { pino, type Logger } from 'pino';
import { escapedJson, printNote } from './print.ts';

export type { Logger };

/** @param forPeople whether a person reads it, as on the terminal of `belay dev` */
export function createLogger(level: 'info' | 'warn' | 'silent', forPeople = false): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Temporal's SDK logs errors under this key.
    serializers: { error: (error: unknown) => (error instanceof Error ? error.message : error) },
  };
  // Pino's own destination throws where a disk is full, and would end the program with its requests in progress.
  const write = forPeople
    ? (line: string) => printNote(readableLine(JSON.parse(line) as Record<string, unknown>))
    : (line: string) => void process.stderr.write(`${escapedJson(line.trimEnd())}\n`);
  return pino(options, { write });
}

/** What the SDK adds to each line about a workflow, whose id says the same to people. */
const OF_SDK = ['namespace', 'taskQueue', 'runId', 'workflowType', 'sdkComponent'];

/** `2026-03-02T08:00:00Z  warning: Workflow failed: the deployment of site 34 failed (workflowId deploy:34:k)` */
export function readableLine({ level, time, msg, error, err, ...rest }: Record<string, unknown>): string {
  const name = pino.levels.labels[Number(level)];
  const kind = name === 'info' ? '' : `${name === 'warn' ? 'warning' : name}: `;
  const cause = error ?? (err as { message?: unknown } | undefined)?.message;
  const facts = Object.entries(rest)
    .filter(([key]) => !OF_SDK.includes(key))
    .map(([key, value]) => `${key} ${shown(value)}`);
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `${String(time).replace(/\.\d+Z$/, 'Z')}  ${kind}${shown(msg)}${cause === undefined ? '' : `: ${shown(cause)}`}${about}`;
}

const shown = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ');

/** Reports the tests of a process to test/run.ts, which started it. */
import type { TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { usedByTree } from '../../bench/processes.ts';

export interface Place {
  name: string;
  nesting: number;
  file: string | null;
  line: number | undefined;
}

export type Message =
  | (Place & { type: 'start' })
  | (Place & { type: 'begin' })
  | (Place & { type: 'complete' })
  /** `leftOut`: why it did not run, empty if it does not say; null if it ran. */
  | (Place & { type: 'pass'; isSuite: boolean; leftOut: string | null })
  | (Place & { type: 'fail'; isSuite: boolean; error: string })
  | { type: 'late'; error: string }
  /** With the CPU time of the process and all that it started; null where there is no /proc. */
  | { type: 'end'; cpuMs: number | null };

const send = (message: Message) => process.send!(message);

/** @returns what failed within a test, in a few lines that name the place */
function described(error: unknown): string {
  const cause = (error as Error).cause ?? error;
  if (!(cause instanceof Error)) return String(cause);
  const frames = (cause.stack ?? '').split('\n').filter((line) => /^ {4}at .*\/(?:test|src|bench|tools)\//.test(line));
  return [`${cause.name}: ${cause.message}`, ...frames.slice(0, 4)].join('\n');
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    // In the order in which tests end; the others come in that of their declaration.
    if (event.type === 'test:dequeue') send({ type: 'begin', ...placeOf(event.data) });
    else if (event.type === 'test:complete') send({ type: 'complete', ...placeOf(event.data) });
    else if (event.type === 'test:start') send({ type: 'start', ...placeOf(event.data) });
    else if (event.type === 'test:diagnostic') {
      const { message } = event.data;
      // An error after the end of a test fails none.
      if (message.includes('generated asynchronous activity after the test ended'))
        send({ type: 'late', error: message });
    } else if (event.type === 'test:pass') {
      const { skip, todo, details } = event.data;
      const leftOut = [skip, todo].find((it) => it !== undefined && it !== false);
      send({
        ...{ type: 'pass', ...placeOf(event.data), isSuite: details.type === 'suite' },
        leftOut: leftOut === true ? '' : (leftOut ?? null),
      });
    } else if (event.type === 'test:fail') {
      const { error, type } = event.data.details;
      const { failureType } = error as Error & { failureType?: string };
      // The test that failed within is reported by itself.
      if (failureType === 'subtestsFailed') continue;
      send({ type: 'fail', ...placeOf(event.data), isSuite: type === 'suite', error: described(error) });
    }
  }
  send({ type: 'end', cpuMs: process.platform === 'linux' ? usedByTree(process.pid).cpuMs : null });
  yield '';
}

function placeOf({
  name,
  nesting,
  file,
  line,
}: {
  name: string;
  nesting: number;
  file?: string;
  line?: number;
}): Place {
  const path = file?.startsWith('file:') === true ? fileURLToPath(file) : file;
  return { name, nesting, file: path ?? null, line };
}

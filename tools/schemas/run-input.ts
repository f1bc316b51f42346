/** What a run may be asked for, as a schema: the rules of src/request/validate-run-input.ts that hold for a run of some type. */
import { z } from 'zod';
import { EVIDENCE, type RunInput } from '../../src/contract/run.ts';
import {
  LIMITS,
  MAX_ID_LENGTH,
  MAX_META_ENTRIES,
  MAX_META_LENGTH,
  MAX_SITES,
  MIN_SETTLE_MS,
  planOf,
} from '../../src/request/validate-run-input.ts';
import type { Assert, Same } from './tie.ts';

const defaults = planOf({ siteIds: [] });

// eslint-disable-next-line no-control-regex -- control characters are what it keeps out
const ID = /^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]+$/u;

// JSON Schema counts characters, src/request/validate-run-input.ts UTF-16 units: only characters beyond U+FFFF make a difference.
const inUnits = (max: number) => `at most ${max} UTF-16 units: a character beyond U+FFFF counts as two`;

const id = (what: string) =>
  z
    .string()
    .min(1)
    .max(MAX_ID_LENGTH)
    .regex(ID)
    .meta({ description: `${what}. No control characters, neither "." nor "..", ${inUnits(MAX_ID_LENGTH)}.` });

const describe = (description: string, value?: number | string | boolean) =>
  value === undefined ? { description } : { description, default: value };

const whole = ([min, max]: readonly [number, number], description: string, value?: number) =>
  z.int().min(min).max(max).meta(describe(description, value)).exactOptional();

const word = <W extends string>(words: readonly W[], description: string, value: W) =>
  z.enum(words).meta(describe(description, value)).exactOptional();

const backup = z.strictObject({
  intervalMs: whole(LIMITS.intervalMs, 'Between two reads of its status, in milliseconds.', defaults.backup.intervalMs),
  tries: whole(LIMITS.tries, 'Reads of its status; the last one decides.', defaults.backup.tries),
  maxAgeMs: whole(LIMITS.durationMs, 'Rest on a completed backup that began at most so long ago, in milliseconds.'),
  backupId: id('Rest on this backup, made or in the making').exactOptional(),
});

const deploy = z.strictObject({
  intervalMs: whole(LIMITS.intervalMs, 'Between two reads of its status, in milliseconds.', defaults.deploy.intervalMs),
  tries: whole(LIMITS.tries, 'Reads of its status; the last one decides.', defaults.deploy.tries),
  settleMs: whole(
    LIMITS.durationMs,
    `After this long the same final status as before is believed, in milliseconds; at least ${MIN_SETTLE_MS}. ` +
      'Default: six intervals.',
  ),
  minEvidence: word(
    EVIDENCE,
    'What rests on weaker evidence ends unknown. Strongest first.',
    defaults.deploy.minEvidence,
  ),
  baselineWaitMs: whole(
    LIMITS.durationMs,
    "Wait so long for somebody else's deployment to end, in milliseconds. Default: intervalMs times tries.",
  ),
  onAmbiguous: word(
    ['resend', 'stop'],
    'After a trigger that left no trace: send it once more, or stop with the outcome unknown.',
    defaults.deploy.onAmbiguous,
  ),
});

export const runInput = z
  .strictObject({
    service: z
      .string()
      .meta({ description: 'Origin of the service the run is meant for. Default: that of the worker which takes it.' })
      .exactOptional(),
    serverId: id(
      'The server to back up: backupThenDeploy and backupOnly need it, the others refuse it',
    ).exactOptional(),
    siteIds: z.array(id('A site')).max(MAX_SITES).meta({
      description: 'The sites to deploy, in order: none for backupOnly, one for watchDeployment, else at least one.',
      uniqueItems: true,
    }),
    backup: backup.meta({ description: 'How the backup is made and waited for.' }).exactOptional(),
    deploy: deploy.meta({ description: 'How each deployment is made and waited for.' }).exactOptional(),
    ifBusy: word(['wait', 'fail'], 'While another run holds the server or the site.', defaults.ifBusy),
    busyTimeoutMs: whole(LIMITS.busyTimeoutMs, 'Wait for it at most so long, in milliseconds.', defaults.busyTimeoutMs),
    startWithinMs: whole(
      LIMITS.startWithinMs,
      'A run whose first task starts later than this ends not_started; in milliseconds.',
      defaults.startWithinMs,
    ),
    keepGoing: z
      .boolean()
      .meta(describe('Go on with the next site when one is not completed.', defaults.keepGoing))
      .exactOptional(),
    heartbeat: id(
      "Name of an address in the worker's notify.heartbeats, which is called when the run is completed",
    ).exactOptional(),
    meta: z
      .record(z.string().min(1).max(MAX_META_LENGTH), z.string())
      .meta({
        description: `Notes that come back in the result. A name has ${inUnits(MAX_META_LENGTH)}.`,
        maxProperties: MAX_META_ENTRIES,
      })
      .exactOptional(),
  })
  .meta({
    title: 'Input of a run',
    description: 'What a run may be asked for. Whether it needs a server, and how many sites, depends on its type.',
    // Every run type needs a server or a site.
    anyOf: [{ required: ['serverId'] }, { properties: { siteIds: { type: 'array', minItems: 1 } } }],
  }) satisfies z.ZodType<RunInput>;

export type RunInputIsTied = Assert<Same<z.infer<typeof runInput>, RunInput>>;

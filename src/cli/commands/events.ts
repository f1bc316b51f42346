/** `belay events`: lists webhook events, shows one, and explains how Belay would interpret a body. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { readConfiguration } from '../../config/load.ts';
import { configuredService } from '../../config/configured-service.ts';
import { printJson } from '../../process/json-document.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import type { EventInput } from '../../contract/event.ts';
import { eventSubjects } from '../../contract/wording/event-subjects.ts';
import { interpretBody } from '../../webhooks/handle-delivery.ts';
import { parseBody } from '../../webhooks/parse-body.ts';
import { reactionsTo, SHARE_NEEDS } from '../../webhooks/sources.ts';
import { redacted, shapeOf } from '../../webhooks/redact.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { LIMITS } from '../../request/limits.ts';
import type { Belay, EventDetails, ReceivedEvent } from '../../starter.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { examples, json } from '../options/shared.ts';
import { durationWithin, parseId, parseLimit, sinceText } from '../options/parse-values.ts';
import { withBelay } from '../connection/open-belay.ts';
import { print } from '../../process/print.ts';

interface ListOptions {
  since?: number;
  limit?: number;
  json?: boolean;
}

export function eventsCommand(): Command {
  const show = new Command('show')
    .description('show one event with its redacted body and the paths in it')
    .argument('<workflowId>', 'id of the event, from `belay events`', parseId)
    .addOption(json())
    .action((workflowId: string, _options: object, command: Command) =>
      withBelay((belay) => showEvent(belay, workflowId, command.optsWithGlobals())),
    );
  const explain = new Command('explain')
    .description('show how Belay would interpret a webhook body from a file; works offline')
    .argument('<file>', 'JSON body as the service sends it')
    .option('--source <name>', 'use the mapping of this source in belay.yaml')
    .addOption(json())
    .action((file: string, _options: object, command: Command) => explainFile(file, command.optsWithGlobals()));
  return new Command('events')
    .description('list the events received by webhook, newest first')
    .option('--since <duration>', 'only events received within this time', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', 'maximum number of events (default: 20)', parseLimit)
    .addOption(json())
    .addHelpText(
      'after',
      examples(
        'belay events --since 12h',
        'belay events show event:panel:msg_1',
        'belay events explain body.json --source panel',
      ),
    )
    .action((options: ListOptions) => withBelay((belay) => listEvents(belay, options)))
    .addCommand(show)
    .addCommand(explain);
}

async function listEvents(belay: Belay, { since, limit, json: asJson }: ListOptions): Promise<void> {
  const events = await belay.listEvents({
    ...definedFields({ since: sinceText(since), limit }),
  });
  if (asJson === true) printJson({ schemaVersion: SCHEMA_VERSION, events, error: null });
  else print(events.length === 0 ? ['no events'] : events.map(eventLine));
}

/** `2026-11-21T02:30:34Z  backup.failed     event:panel:msg_1  server 12, backup 1000` */
function eventLine({ receivedAt, event, workflowId, verified }: ReceivedEvent): string {
  const named = eventSubjects(event, plainText).join(', ');
  const rawKind = event.kind === 'unknown' && event.rawKind !== null ? ` ("${plainText(event.rawKind, 40)}")` : '';
  return `${receivedAt}  ${event.kind.padEnd(16)}  ${workflowId}${rawKind}${named === '' ? '' : `  ${named}`}${verified ? '' : '  not verified'}`;
}

async function showEvent(belay: Belay, workflowId: string, options: { json?: boolean }): Promise<void> {
  const event = await belay.getEvent(workflowId);
  const shape = shapeOf(event.body);
  if (options.json === true) return printJson({ schemaVersion: SCHEMA_VERSION, event, shape, error: null });
  print([
    ...meaningLines(event),
    `received ${event.receivedAt} from ${event.source}${event.verified ? '' : ', not verified'}`,
    ...serviceLines(event),
    'body, redacted:',
    JSON.stringify(event.body, null, 2),
    'paths, for events.sources.<name>.fields in belay.yaml:',
    ...shape.map((line) => `  ${line}`),
  ]);
}

async function explainFile(file: string, { source, json: asJson }: { source?: string; json?: boolean }): Promise<void> {
  const configuration = await readConfiguration();
  const sources = new Map(Object.entries(configuration.events?.sources ?? {}));
  const mapping = source === undefined ? undefined : sources.get(source);
  if (source !== undefined && mapping === undefined) {
    throw new BelayError('Usage', `--source ${source}: belay.yaml has no events.sources.${source}`);
  }
  const text = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new BelayError('Usage', `${file} cannot be read (${error.code ?? 'unknown error'})`);
  });
  const body = parseBody(text);
  if (body === null) {
    throw new BelayError(
      'Usage',
      `${file} is not a JSON object that the receiver would accept: save the body exactly as it was sent`,
    );
  }
  const { fields = {}, kinds = {}, verify } = mapping ?? {};
  const isVerified = verify !== 'none';
  const meaning = interpretBody(body, { fields, kinds, isVerified }, configuration);
  const shape = shapeOf(redacted(body));
  const service = (await configuredService()).service;
  if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, service, ...meaning, shape, error: null });
  const mapped = reactionsTo({ kind: meaning.event.kind, isVerified, namesBackup: true }, configuration);
  const sharesNothing = mapped.includes('share') && !meaning.reactions.includes('share');
  print([
    ...meaningLines(meaning),
    ...(sharesNothing ? [`share is off: it needs ${SHARE_NEEDS}`] : []),
    ...(service === null ? [] : [`of the service ${service}: at workers of another one, it has no effect`]),
    'paths, for events.sources.<name>.fields in belay.yaml:',
    ...shape.map((line) => `  ${line}`),
  ]);
}

function serviceLines({ service, result }: EventDetails): string[] {
  const of = service === undefined ? [] : [`of the service ${service}`];
  const other = result?.otherThan;
  if (other === undefined) return of;
  return [...of, `no effect: the workers serve ${other}; correct BELAY_SERVICE or BELAY_TASK_QUEUE of the receiver`];
}

function meaningLines({ event, reactions }: Pick<EventInput, 'event' | 'reactions'>): string[] {
  const source = event.rawKind === null ? 'the body names no kind' : `the sender calls it "${event.rawKind}"`;
  return [
    `${event.kind}: ${source}`,
    `names ${eventSubjects(event, plainText).join(', ') || 'no server, site or backup, so it wakes no run'}`,
    ...(event.at === null ? [] : [`happened at ${event.at}`]),
    `reactions: ${['hint', ...reactions].join(', ')}`,
  ];
}

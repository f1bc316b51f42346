/** `belay events` lists webhook events, shows one of them, and explains how Belay would interpret a body. */
import { readFile } from 'node:fs/promises';
import { readConfiguration, type Configuration } from '../../config/load.ts';
import { configuredService } from '../../config/configured-service.ts';
import { printAnswer, printDocument } from '../../process/json-document.ts';
import type { SourceConfig } from './config.ts';
import { type EventInput, type ServiceEvent, eventSubjects } from './shapes.ts';
import { interpretBody } from '../../webhooks/handle-delivery.ts';
import { parseBody, type JsonObject } from '../../webhooks/parse-body.ts';
import { reactionsTo, SHARE_NEEDS } from '../../webhooks/sources.ts';
import { redacted, shapeOf } from '../../webhooks/redact.ts';
import { definedFields, ownEntry } from '../../contract/plain-object.ts';
import type { EventDetails, ReceivedEvent } from '../../starter.ts';
import { unreadableFile } from '../../config/environment/variables.ts';
import { BelayError } from '../../contract/errors.ts';
import { plainText } from '../../contract/safe-text.ts';
import { noteUnreadable, secondsOf } from '../../cli/run-text.ts';
import { sinceText } from '../../cli/parse-values.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { print } from '../../process/print.ts';

export interface EventListOptions {
  since?: number;
  limit?: number;
  json?: boolean;
}

export interface ExplainOptions {
  source?: string;
  json?: boolean;
}

export async function printEvents({ since, limit, json: asJson }: EventListOptions): Promise<void> {
  const filter = definedFields({ since: sinceText(since), limit });
  const events = await withBelay((belay) => belay.listEvents(filter));
  noteUnreadable(events);
  printAnswer(asJson, { events }, events.length === 0 ? 'no events' : events.map(eventLine));
}

/** `2026-11-21T02:30:34Z  backup.failed         event:panel:msg_1  server 12, backup 1000` */
function eventLine({ receivedAt, event, workflowId, verified, unreadable }: ReceivedEvent): string {
  if (unreadable !== undefined) return `${secondsOf(receivedAt)}  ${'cannot be read'.padEnd(20)}  ${workflowId}`;
  const named = eventSubjects(event, plainText).join(', ');
  return `${secondsOf(receivedAt)}  ${ownKind(event).padEnd(20)}  ${workflowId}${named === '' ? '' : `  ${named}`}${verified ? '' : '  not verified'}`;
}

/** Shows the sender's own word for a kind that Belay does not know. */
const ownKind = ({ kind, rawKind }: ServiceEvent): string =>
  kind === 'unknown' && rawKind !== null ? plainText(rawKind, 40) : kind;

export async function showEvent(workflowId: string, options: { json?: boolean }): Promise<void> {
  const event = await withBelay((belay) => belay.getEvent(workflowId));
  const shape = shapeOf(event.body);
  if (options.json === true) return printDocument({ event, shape });
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

export async function explainFile(file: string, options: ExplainOptions): Promise<void> {
  const { source, json: asJson } = options;
  const configuration = await readConfiguration();
  const { fields = {}, kinds = {}, verify } = sourceIn(configuration, source);
  const body = await readBody(file);
  const isVerified = verify !== 'none';
  const meaning = interpretBody(body, { fields, kinds, isVerified }, configuration);
  const shape = shapeOf(redacted(body));
  const service = (await configuredService()).service;
  if (asJson === true) return printDocument({ service, ...meaning, shape });
  const withBackup = reactionsTo({ kind: meaning.event.kind, isVerified, namesBackup: true }, configuration);
  const lacksBackup = withBackup.includes('share') && !meaning.reactions.includes('share');
  print([
    ...meaningLines(meaning),
    ...(lacksBackup ? [`share is off: it needs ${SHARE_NEEDS}`] : []),
    ...(service === null ? [] : [`of the service ${service}: at workers of another one, it has no effect`]),
    'paths, for events.sources.<name>.fields in belay.yaml:',
    ...shape.map((line) => `  ${line}`),
  ]);
}

function sourceIn({ events }: Configuration, name: string | undefined): Partial<SourceConfig> {
  if (name === undefined) return {};
  const source = ownEntry(events?.sources ?? {}, name);
  if (source === undefined) {
    const known = Object.keys(events?.sources ?? {}).join(', ') || 'none';
    throw new BelayError('Usage', `--source ${name}: belay.yaml has no events.sources.${name}: it has ${known}`);
  }
  return source;
}

async function readBody(file: string): Promise<JsonObject> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new BelayError('Usage', unreadableFile(file, error));
  });
  const body = parseBody(bytes);
  if (body !== null) return body;
  throw new BelayError(
    'Usage',
    `${file} is not a JSON object that the receiver would accept: save the body exactly as it was sent`,
  );
}

function serviceLines({ service, result }: EventDetails): string[] {
  const lines = service === undefined ? [] : [`of the service ${service}`];
  const other = result?.otherThan;
  if (other === undefined) return lines;
  return [...lines, `no effect: the workers serve ${other}; correct BELAY_SERVICE or BELAY_TASK_QUEUE of the receiver`];
}

/** Every event wakes what waits for what it names, so that is none of its reactions. */
const NO_REACTION = 'none of its own: the event only wakes what waits for what it names';

function meaningLines({ event, reactions }: Pick<EventInput, 'event' | 'reactions'>): string[] {
  const sentKind = event.rawKind === null ? 'the body names no kind' : `the sender calls it "${event.rawKind}"`;
  const isOther = event.kind === 'unknown' && event.rawKind !== null;
  return [
    `${ownKind(event)}: ${isOther ? 'no kind that Belay knows; events.kinds in belay.yaml can say which it is' : sentKind}`,
    `names ${eventSubjects(event, plainText).join(', ') || 'no server, site or backup, so it wakes no run'}`,
    ...(event.at === null ? [] : [`happened at ${event.at}`]),
    `reactions: ${reactions.join(', ') || NO_REACTION}`,
  ];
}

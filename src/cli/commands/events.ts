/** `belay events`: what came by webhook, what was made of it, and what a body would be taken for. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { readConfiguration } from '../../config/load.ts';
import { SCHEMA_VERSION } from '../../contract/run.ts';
import { printDocument } from '../../process/json-document.ts';
import type { EventInput } from '../../contract/event.ts';
import { namesIn } from '../../contract/wording/event-subjects.ts';
import { meaningOf } from '../../webhooks/handle-delivery.ts';
import { parseBody } from '../../webhooks/parse-body.ts';
import { redacted, shapeOf } from '../../webhooks/redact.ts';
import { given } from '../../contract/plain-object.ts';
import { LIMITS } from '../../request/validate-run-input.ts';
import type { Belay, TakenEvent } from '../../starter.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { examples, json } from '../options/add-run-options.ts';
import { durationWithin, parseId, parseLimit, sinceText } from '../options/parse-values.ts';
import { withBelay } from '../waiting/connection.ts';

interface ListOptions {
  since?: number;
  limit?: number;
  json?: boolean;
}

export function eventsCommand(): Command {
  const show = new Command('show')
    .description('show an event, its redacted body, and the paths in it')
    .argument('<workflowId>', 'as `belay events` shows it', parseId)
    .addOption(json())
    .action((workflowId: string, _options: object, command: Command) =>
      withBelay((belay) => showEvent(belay, workflowId, command.optsWithGlobals())),
    );
  const explain = new Command('explain')
    .description('tell what the body in a file would be taken for; asks nobody')
    .argument('<file>', 'a body as the service sends it, JSON')
    .option('--source <name>', 'by the mapping of this source in belay.yaml')
    .addOption(json())
    .action((file: string, _options: object, command: Command) => explainFile(file, command.optsWithGlobals()));
  return new Command('events')
    .description('list what came by webhook, the newest first')
    .option('--since <duration>', 'received at most so long ago', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', 'at most so many (default 20)', parseLimit)
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
    ...given({ since: sinceText(since), limit }),
  });
  if (asJson === true) printDocument({ schemaVersion: SCHEMA_VERSION, events, error: null });
  else print(events.length === 0 ? ['no events'] : events.map(eventLine));
}

/** `2026-11-21T02:30:34Z  backup.failed     event:panel:msg_1  server 12, backup 1000` */
function eventLine({ receivedAt, event, workflowId, verified }: TakenEvent): string {
  const named = namesIn(event, plainText).join(', ');
  const said = event.kind === 'unknown' && event.said !== null ? ` ("${plainText(event.said, 40)}")` : '';
  return `${receivedAt}  ${event.kind.padEnd(16)}  ${workflowId}${said}${named === '' ? '' : `  ${named}`}${verified ? '' : '  not verified'}`;
}

async function showEvent(belay: Belay, workflowId: string, options: { json?: boolean }): Promise<void> {
  const event = await belay.getEvent(workflowId);
  const shape = shapeOf(event.body);
  if (options.json === true) return printDocument({ schemaVersion: SCHEMA_VERSION, event, shape, error: null });
  print([
    ...meaningLines(event),
    `received ${event.receivedAt} from ${event.source}${event.verified ? '' : ', not verified'}`,
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
    throw new BelayError('Usage', `${file} is no JSON object a receiver would take: write the body as it was sent`);
  }
  const { fields = {}, kinds = {}, verify } = mapping ?? {};
  const meaning = meaningOf(body, { fields, kinds, isVerified: verify !== 'none' }, configuration);
  const shape = shapeOf(redacted(body));
  if (asJson === true) return printDocument({ schemaVersion: SCHEMA_VERSION, ...meaning, shape, error: null });
  print([
    ...meaningLines(meaning),
    'paths, for events.sources.<name>.fields in belay.yaml:',
    ...shape.map((line) => `  ${line}`),
  ]);
}

function meaningLines({ event, reactions }: Pick<EventInput, 'event' | 'reactions'>): string[] {
  const said = event.said === null ? 'the body says no kind' : `the sender says "${event.said}"`;
  return [
    `${event.kind}: ${said}`,
    `names ${namesIn(event, plainText).join(', ') || 'no server, site or backup: wakes nobody'}`,
    ...(event.at === null ? [] : [`happened at ${event.at}`]),
    `reactions: ${['hint', ...reactions].join(', ')}`,
  ];
}

const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`);

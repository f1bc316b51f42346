/** Defines `belay events`. */
import { Command } from 'commander';
import { LIMITS } from '../../request/limits.ts';
import type { EventListOptions } from './actions.ts';
import { durationWithin, parseId, parseLimit } from '../../cli/parse-values.ts';
import { examples, json } from '../../cli/options.ts';

export function eventsCommand(): Command {
  const show = new Command('show')
    .description('show one event with its redacted body and the paths in it')
    .argument('<workflowId>', 'id of the event, from `belay events`', parseId)
    .addOption(json())
    .action(async (workflowId: string, _options: object, command: Command) =>
      (await import('./actions.ts')).showEvent(workflowId, command.optsWithGlobals()),
    );
  const explain = new Command('explain')
    .description('show how Belay would interpret a webhook body from a file; works offline')
    .argument('<file>', 'JSON body as the service sends it')
    .option('--source <name>', 'use the mapping of this source in belay.yaml')
    .addOption(json())
    .action(async (file: string, _options: object, command: Command) =>
      (await import('./actions.ts')).explainFile(file, command.optsWithGlobals()),
    );
  return new Command('events')
    .summary('list the events received by webhook')
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
    .action(async (options: EventListOptions) => (await import('./actions.ts')).printEvents(options))
    .addCommand(show)
    .addCommand(explain);
}

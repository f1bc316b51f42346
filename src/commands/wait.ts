/** `belay wait` and `belay status`: look at a run that was started before. */
import { Command } from 'commander';
import { connect, type Belay } from '../starter.ts';
import { EXIT } from './exit.ts';
import { liveLine } from './live.ts';
import { json, parseId, runId } from './options.ts';
import { printResult } from './output.ts';
import { waitAndPrint } from './waiting.ts';

interface LookOptions {
  runId?: string;
  json?: boolean;
}

export function lookCommands(): Command[] {
  const wait = new Command('wait').description('wait for the verdict of a run that was started before');
  const status = new Command('status').description('show what is known of a run now');
  return [
    withRun(wait, async (belay, workflowId, options) =>
      waitAndPrint(belay.get(workflowId, options.runId), { json: options.json === true }),
    ),
    withRun(status, async (belay, workflowId, options) => {
      const found = await belay.get(workflowId, options.runId).status();
      printResult(found.result, options.json === true);
      if (options.json !== true && found.result.outcome === null)
        process.stdout.write(`  now: ${liveLine(found, Date.now())}\n`);
      return EXIT.completed;
    }),
  ];
}

function withRun(
  command: Command,
  look: (belay: Belay, workflowId: string, options: LookOptions) => Promise<number>,
): Command {
  return command
    .argument('<workflowId>', 'as `belay run` and the Temporal UI show it', parseId)
    .addOption(runId())
    .addOption(json())
    .action(async (workflowId: string, options: LookOptions) => {
      const belay = await connect();
      try {
        process.exitCode = await look(belay, workflowId, options);
      } finally {
        await belay.close();
      }
    });
}

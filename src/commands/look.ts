/** `belay wait`, `status` and `cancel`: a run that was started before. */
import { Command } from 'commander';
import { connect, type Run } from '../starter.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { liveLine } from './live.ts';
import { addWaitOptions, examples, json, runId } from './options.ts';
import { printResult } from './output.ts';
import { parseId } from './values.ts';
import { waitAndPrint, type WaitingOptions } from './waiting.ts';

type LookOptions = WaitingOptions & { runId?: string; exitStatus?: boolean };

export function lookCommands(): Command[] {
  const wait = new Command('wait').description('wait for the verdict of a run that was started before');
  const status = new Command('status')
    .description('show what is known of a run now')
    .option('--exit-status', 'exit with the verdict; with 124 while there is none');
  const cancel = new Command('cancel').description(
    'ask a run to end; what has begun at the service goes on there, and the result says so',
  );
  return [
    forRun(addWaitOptions(wait), waitAndPrint),
    forRun(status, showStatus),
    forRun(cancel, async (run, options) => {
      await run.cancel();
      return showStatus(run, options);
    }),
  ];
}

async function showStatus(run: Run, options: LookOptions): Promise<number> {
  const status = await run.status();
  const { result } = status;
  printResult(result, options.json === true);
  const inFlight = result.outcome === null && result.error === null;
  if (options.json !== true && inFlight) process.stdout.write(`  now: ${liveLine(status, true)}\n`);
  if (options.exitStatus !== true) return EXIT.completed;
  return inFlight ? EXIT.stoppedWaiting : exitCodeOf(result);
}

function forRun(command: Command, look: (run: Run, options: LookOptions) => Promise<number>): Command {
  return command
    .argument('<workflowId>', 'as `belay run` and the Temporal UI show it', parseId)
    .addOption(runId())
    .addOption(json())
    .addHelpText('after', examples(`belay ${command.name()} backup-then-deploy:12:nightly`))
    .action(async (workflowId: string, options: LookOptions) => {
      const belay = await connect();
      try {
        process.exitCode = await look(belay.get(workflowId, options.runId), options);
      } finally {
        await belay.close();
      }
    });
}

/** `belay rollout`: a fleet of belay.yaml, wave after wave. */
import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { Command, Option } from 'commander';
import { readConfiguration } from '../../config/load.ts';
import { SCHEMA_VERSION } from '../../contract/run.ts';
import { printDocument } from '../../process/json-document.ts';
import type { DecisionInput } from '../../contract/rollout.ts';
import { planRollout } from '../../config/plan/plan-rollout.ts';
import { given } from '../../contract/plain-object.ts';
import { LIMITS } from '../../request/validate-run-input.ts';
import type { Belay, Rollout } from '../../starter.ts';
import { EXIT } from '../output/exit-codes.ts';
import { addWaitOptions, examples, json, runId, summary } from '../options/add-run-options.ts';
import { printRollout, rolloutListLine } from '../output/rollout-text.ts';
import { showRollout, viewOfRollout, type ShowOptions } from '../waiting/rollout-view.ts';
import { collectMeta, durationWithin, parseId, parseLimit, sinceText } from '../options/parse-values.ts';
import { holdSignals, waitAndPrint, type Stopping, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { withBelay } from '../waiting/connection.ts';

type StartOptions = WaitingOptions & {
  key?: string;
  detach?: boolean;
  heartbeat?: string;
  meta?: Record<string, string>;
};

export function rolloutCommand(): Command {
  return new Command('rollout')
    .description('back up and deploy a fleet of belay.yaml, wave after wave')
    .addHelpText(
      'after',
      examples(
        'belay rollout start steady --key release-7',
        'belay rollout status rollout:steady:release-7 --summary night.md',
        'belay rollout pause rollout:steady:release-7 --reason "the shop is slow"',
      ),
    )
    .addCommand(startCommand())
    .addCommand(statusCommand())
    .addCommand(decisionCommand('pause', 'begin with no further server; what runs goes on'))
    .addCommand(
      decisionCommand('resume', 'begin with servers again').option(
        '--server <id>',
        'only let this server begin, which an event holds',
        parseId,
      ),
    )
    .addCommand(decisionCommand('abort', 'begin with no further server, and end when what runs has ended'))
    .addCommand(retryCommand())
    .addCommand(listCommand());
}

function startCommand(): Command {
  const command = new Command('start')
    .description('start a rollout and wait for its verdict')
    .argument('<name>', 'of rollouts in belay.yaml', parseId)
    .option('--key <key>', 'the same key is the same rollout: in flight join it, closed give its result', parseId)
    .option('--heartbeat <name>', "call this address of the worker's belay.yaml when all is completed", parseId)
    .option('--meta <name=value>', 'a note that goes into the result; several may be given', collectMeta)
    .option('--detach', 'start it and exit; `belay wait` gives the verdict');
  return addWaitOptions(command)
    .addOption(json())
    .action(async (name: string, _options: object, self: Command) => {
      const options = self.optsWithGlobals<StartOptions>();
      const { key = randomUUID(), heartbeat, meta } = options;
      const plan = planRollout(await readConfiguration(), name);
      await follow(options, (belay) => belay.rollouts.start({ ...plan, key, ...given({ heartbeat, meta }) }));
    });
}

function retryCommand(): Command {
  const command = new Command('retry')
    .description('start a rollout that ended anew, with what is not completed, and wait for its verdict')
    .argument('<workflowId>', 'as `belay rollout list` shows it', parseId)
    .option('--detach', 'start it and exit; `belay wait` gives the verdict');
  return addWaitOptions(command)
    .addOption(json())
    .action((workflowId: string, _options: object, self: Command) =>
      follow(self.optsWithGlobals(), (belay) => belay.rollouts.retry(workflowId)),
    );
}

async function follow(options: StartOptions, start: (belay: Belay) => Promise<Rollout>): Promise<void> {
  process.exitCode = await withBelay(async (belay) => {
    const stopping: Stopping = holdSignals(options);
    try {
      const rollout = await start(belay);
      if (options.detach !== true) return await waitAndPrint(rollout, viewOfRollout(belay, rollout), options, stopping);
      const { result } = await rollout.status();
      printRollout(result, options.json === true);
      return EXIT.completed;
    } finally {
      stopping.end();
    }
  });
}

function statusCommand(): Command {
  return new Command('status')
    .description('show a result per server, sums, and why it is waiting')
    .argument('<workflowId>', 'as `belay rollout list` shows it', parseId)
    .option('--exit-status', 'exit with the verdict; with 124 while there is none')
    .addOption(runId())
    .addOption(summary())
    .addOption(json())
    .action(async (workflowId: string, _options: object, self: Command) => {
      const options = self.optsWithGlobals<ShowOptions & { runId?: string }>();
      process.exitCode = await withBelay((belay) =>
        showRollout(belay.rollouts.get(workflowId, options.runId), options),
      );
    });
}

function decisionCommand(what: 'pause' | 'resume' | 'abort', description: string): Command {
  return new Command(what)
    .description(description)
    .argument('<workflowId>', 'as `belay rollout list` shows it', parseId)
    .addOption(new Option('--reason <text>', 'why; it stays in the history').makeOptionMandatory())
    .option('--by <name>', 'who decides (default: the user of this machine)')
    .addOption(json())
    .action(async (workflowId: string, _options: object, self: Command) => {
      const { reason, by = signature(), server, ...options } = self.optsWithGlobals<DecisionOptions>();
      const decision: DecisionInput = { by, why: reason, ...given({ serverId: server }) };
      process.exitCode = await withBelay(async (belay) => {
        const rollout = belay.rollouts.get(workflowId);
        await rollout[what](decision);
        return showRollout(rollout, options);
      });
    });
}

interface DecisionOptions {
  reason: string;
  by?: string;
  server?: string;
  json?: boolean;
}

function signature(): string {
  return `${userName()}@${hostname()}`;
}

/** In a container a user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function listCommand(): Command {
  return new Command('list')
    .description('list rollouts, the newest first')
    .option('--since <duration>', 'started at most so long ago', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', 'at most so many (default 20)', parseLimit)
    .addOption(json())
    .action(async (_options: object, self: Command) => {
      const { since, limit, json: asJson } = self.optsWithGlobals<{ since?: number; limit?: number; json?: boolean }>();
      const filter = given({ since: sinceText(since), limit });
      const rollouts = await withBelay((belay) => belay.rollouts.list(filter));
      if (asJson === true) return printDocument({ schemaVersion: SCHEMA_VERSION, rollouts, error: null });
      process.stdout.write(`${rollouts.map(rolloutListLine).join('\n') || 'no rollouts'}\n`);
    });
}

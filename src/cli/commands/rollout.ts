/** `belay rollout`: starts rollouts of a fleet in belay.yaml, shows them and controls them. */
import { hostname, userInfo } from 'node:os';
import { Command, Option } from 'commander';
import { readConfiguration } from '../../config/load.ts';
import { printJson } from '../../process/json-document.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import type { DecisionInput } from '../../contract/rollout.ts';
import { planRollout } from '../../config/plan/plan-rollout.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { LIMITS } from '../../request/limits.ts';
import type { Belay, Rollout } from '../../starter.ts';
import { EXIT } from '../output/exit-codes.ts';
import { addWaitOptions, examples, json, runId, service, summary } from '../options/shared.ts';
import { printRollout, rolloutListLine } from '../output/rollout-text.ts';
import { showRollout, viewOfRollout, type ShowOptions } from '../waiting/rollout-view.ts';
import { durationWithin, parseId, parseLimit, sinceText } from '../options/parse-values.ts';
import { captureSignals, waitAndPrint, type Stopping, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { runOption } from '../options/add-run-options.ts';
import { reportEndpoints } from '../connection/report-endpoints.ts';
import { withBelay } from '../connection/open-belay.ts';
import { print } from '../../process/print.ts';

type StartOptions = WaitingOptions & {
  service?: string;
  key?: string;
  detach?: boolean;
  heartbeat?: string;
  meta?: Record<string, string>;
};

export function rolloutCommand(): Command {
  return new Command('rollout')
    .description('back up and deploy a fleet from belay.yaml, wave by wave')
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
    .addCommand(
      decisionCommand('pause', 'start no more servers until the rollout is resumed; runs in progress continue'),
    )
    .addCommand(
      decisionCommand('resume', 'resume a paused rollout and accept its failures so far').option(
        '--server <id>',
        'release only this server, which is held by an event',
        parseId,
      ),
    )
    .addCommand(decisionCommand('abort', 'start no more servers, and end once the runs in progress have finished'))
    .addCommand(retryCommand())
    .addCommand(listCommand());
}

function startCommand(): Command {
  const command = new Command('start')
    .description('start a rollout and wait for its verdict')
    .argument('<name>', 'name under rollouts in belay.yaml', parseId)
    .option(
      '--key <key>',
      'idempotency key: join the rollout if it is in progress, return its result if it has finished',
      parseId,
    )
    .addOption(service())
    .addOption(runOption('heartbeat', 'rollout'))
    .addOption(runOption('meta'))
    .option('--detach', 'start the rollout and exit; use `belay wait` for its verdict');
  return addWaitOptions(command, 'rollout')
    .addOption(json())
    .action(async (name: string, _options: object, self: Command) => {
      const options = self.optsWithGlobals<StartOptions>();
      const { key, heartbeat, meta } = options;
      const plan = planRollout(await readConfiguration(), name);
      await follow(options, (belay) => belay.rollouts.start({ ...plan, ...definedFields({ key, heartbeat, meta }) }));
    });
}

function retryCommand(): Command {
  const command = new Command('retry')
    .description('retry the unfinished servers of a closed rollout and wait for the verdict')
    .argument('<workflowId>', 'id of the rollout, from `belay rollout list`', parseId)
    .option('--detach', 'start the rollout and exit; use `belay wait` for its verdict');
  return addWaitOptions(command, 'rollout')
    .addOption(json())
    .action((workflowId: string, _options: object, self: Command) =>
      follow(self.optsWithGlobals(), (belay) => belay.rollouts.retry(workflowId)),
    );
}

async function follow(options: StartOptions, start: (belay: Belay) => Promise<Rollout>): Promise<void> {
  await reportEndpoints(options.service);
  process.exitCode = await withBelay(
    async (belay) => {
      const stopping: Stopping = captureSignals(options);
      try {
        const rollout = await start(belay);
        if (options.detach !== true)
          return await waitAndPrint(rollout, viewOfRollout(belay, rollout), options, stopping);
        const { result } = await rollout.status();
        printRollout(result, options.json === true);
        return EXIT.completed;
      } finally {
        stopping.end();
      }
    },
    definedFields({ service: options.service }),
  );
}

function statusCommand(): Command {
  return new Command('status')
    .description('show the result of each server, the totals, and what the rollout is waiting for')
    .argument('<workflowId>', 'id of the rollout, from `belay rollout list`', parseId)
    .option('--exit-status', 'exit with the code of the verdict, or 124 if there is no verdict yet')
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
    .argument('<workflowId>', 'id of the rollout, from `belay rollout list`', parseId)
    .addOption(new Option('--reason <text>', 'why; recorded with the rollout').makeOptionMandatory())
    .option('--by <name>', 'who decides (default: your user name and host)')
    .addOption(json())
    .action(async (workflowId: string, _options: object, self: Command) => {
      const { reason, by = signature(), server, ...options } = self.optsWithGlobals<DecisionOptions>();
      const decision: DecisionInput = { by, reason, ...definedFields({ serverId: server }) };
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

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function listCommand(): Command {
  return new Command('list')
    .description('list rollouts, newest first')
    .option('--since <duration>', 'only rollouts started within this time', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', 'maximum number of rollouts (default: 20)', parseLimit)
    .addOption(json())
    .action(async (_options: object, self: Command) => {
      const { since, limit, json: asJson } = self.optsWithGlobals<{ since?: number; limit?: number; json?: boolean }>();
      const filter = definedFields({ since: sinceText(since), limit });
      const rollouts = await withBelay((belay) => belay.rollouts.list(filter));
      if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, rollouts, error: null });
      print(rollouts.length === 0 ? 'no rollouts' : rollouts.map(rolloutListLine));
    });
}

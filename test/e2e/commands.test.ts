/** What the commands print and how they exit. Those with a stack of their own are in stacks.test.ts. */
import './commands/bad-input.ts';
import './commands/fleet-mistakes.ts';
import './commands/command-line.ts';
import './commands/rollout-commands.ts';
import './commands/exit-codes.ts';
import './commands/gate-commands.ts';
import './commands/top.ts';
import './commands/dry-run.ts';
import './commands/configuration.ts';
import './commands/completion.ts';

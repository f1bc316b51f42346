/** What the commands print and how they exit. */
import './commands/bad-input.ts';
import './commands/fleet-mistakes.ts';
import './commands/command-line.ts';
import './commands/rollout-commands.ts';
import './commands/exit-codes.ts';
import './commands/top.ts';
import './commands/freeze-commands.ts';
import './commands/dry-run.ts';
import './commands/configuration.ts';
import './commands/completion.ts';
import './commands/doctor.ts';
import './commands/advice.ts';

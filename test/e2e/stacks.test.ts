/** `belay dev`, `belay demo`, what only a whole stack shows, and commands whose tests need a stack of their own. */
import './dev/events-command.ts';
// Ends the devs of the one before.
import './dev/dev.ts';
import './dev/demo.ts';
import './dev/dev-server.ts';
import './dev/refused-token.ts';
import './commands/freeze-commands.ts';
import './commands/approval-commands.ts';
import './commands/receipt-commands.ts';
import './commands/advice.ts';
// Its Temporal server stays until the end.
import './commands/doctor.ts';

/** Commands whose tests need a stack of their own. */
import './commands/freeze-commands.ts';
import './commands/approval-commands.ts';
import './commands/receipt-commands.ts';
import './commands/doctor.ts';
import './commands/advice.ts';

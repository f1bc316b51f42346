/** What features add to the command line. The parts of a dry run are listed in dry-run.ts, which most commands do not load. */
import { adviceCommand } from '../features/advice/commands.ts';
import { approvalCommands } from '../features/approvals/commands.ts';
import { checkCommand } from '../features/site-checks/commands.ts';
import { doctorCommand } from '../features/doctor/commands.ts';
import { gatesCommand } from '../features/gates/commands.ts';
import { freezeCommands } from '../features/freezes/commands.ts';
import { eventsCommand } from '../features/events/commands.ts';
import { receiptCommand } from '../features/receipts/commands.ts';
import { rolloutCommand } from '../features/rollouts/commands.ts';
import { scheduleCommand } from '../features/schedules/commands.ts';
import { topCommand } from '../features/overview/commands.ts';

const answersBy = async () => (await import('../features/approvals/actions-receipts.ts')).answersBy;

/** By the headings of `belay --help`, in their order. */
export const featureCommands = () => ({
  look: [topCommand(), adviceCommand(), eventsCommand(), receiptCommand(answersBy)],
  fleets: [rolloutCommand(), scheduleCommand()],
  policy: [...freezeCommands(), ...approvalCommands(), checkCommand(), gatesCommand()],
  setUp: [doctorCommand()],
});

/** `belay dev`, `belay demo`, and what only a whole stack shows. */
import './dev/events-command.ts';
// Ends the devs of the one before.
import './dev/dev.ts';
import './dev/demo.ts';
import './dev/dev-server.ts';
import './dev/refused-token.ts';

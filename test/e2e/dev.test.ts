/** `belay dev`, `belay demo`, and what only a whole stack shows. */
import './dev/dev.ts';
import './dev/demo.ts';
import './dev/events-command.ts';
import './dev/dev-server.ts';
import './dev/refused-token.ts';

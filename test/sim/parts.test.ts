/** The parts of the simulator, and what it plays besides runs. One process: each would load the SDK and the bundle. */
import './parts/bundle.ts';
import './parts/rules-pooled.ts';
import './parts/schedules.ts';
import './parts/shrink.ts';
import './parts/waits.ts';

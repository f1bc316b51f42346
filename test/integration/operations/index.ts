import './post-ends.ts';
import './never-connected.ts';
import './locks.ts';
import './apps.ts';
import './past-durations.ts';
import './pooled-waits.ts';
import '../../support/replay-tests.ts';

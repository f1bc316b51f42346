import './rollouts.ts';
import './rollout-notices.ts';
import './fleets.ts';
import './jitter.ts';
import './why.ts';
import './overview.ts';
import '../../support/replay-tests.ts';

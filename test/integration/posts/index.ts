import './post-ends.ts';
import './never-connected.ts';
import '../../support/replay-tests.ts';

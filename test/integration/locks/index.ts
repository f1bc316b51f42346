import './locks.ts';
import '../../support/replay-tests.ts';

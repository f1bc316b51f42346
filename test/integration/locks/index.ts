import './locks.ts';
import './lock-faults.ts';
import './many-waiters.ts';
import '../../support/replay-tests.ts';

import './schedules.ts';
import './wrong-inputs.ts';
import './local-time.ts';
import '../../support/replay-tests.ts';

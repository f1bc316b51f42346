import './schedules.ts';
import './wrong-inputs.ts';
import './clock-changes.ts';
import '../../support/replay-tests.ts';

import './schedules.ts';
import './wrong-inputs.ts';
import './clock-changes.ts';
import './unanswered.ts';
import '../../support/replay-tests.ts';

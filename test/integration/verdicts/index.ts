import './reads.ts';
import './evidence.ts';
import './min-evidence.ts';
import './doubtful-answers.ts';
import './unfit-reader.ts';
import './outages.ts';
import '../../support/replay-tests.ts';

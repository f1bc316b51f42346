import './limits.ts';
import './search-attributes.ts';
import './encrypted-runs.ts';
import './other-readers.ts';
// It waits longest, and begins to before the first test of all.
import './versions.ts';
import './encrypted-replays.ts';
import '../../support/replay-tests.ts';

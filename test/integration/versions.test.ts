/** Versioned workers. Temporal lists a stopped worker for over a minute, which this file mostly waits for. */
import './versions/versions.ts';
import '../support/replay-tests.ts';

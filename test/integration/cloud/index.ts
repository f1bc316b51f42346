import './limits.ts';
import './search-attributes.ts';
import '../../support/replay-tests.ts';

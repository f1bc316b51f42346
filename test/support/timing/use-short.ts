import { TIMING } from './short.ts';
import { useTiming } from './substitute.ts';

useTiming('short', TIMING);

import { TIMING } from './hanging.ts';
import { useTiming } from './substitute.ts';

useTiming('hanging', TIMING);

import { TIMING } from './patient.ts';
import { useTiming } from './substitute.ts';

useTiming('patient', TIMING);

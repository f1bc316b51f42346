import './encrypted-runs.ts';
import './other-readers.ts';

/** What `npm test` and `npm run test:all` run. */
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files of tests that share a process: each process loads the SDK and compiles TypeScript for itself. */
export interface Group {
  name: string;
  /** Below `test/`. */
  folders: string[];
  /** Its tests follow processes in /proc, which only Linux has. */
  onLinux?: true;
  /** Of their own Temporal server, or of none. */
  withoutTemporal?: true;
}

/** A program that judges for itself: it exits with 75 if a program of the system is missing, and with 1 if it fails. */
export interface Script {
  name: string;
  /** The file, below the root of the repository, and its arguments. */
  args: string[];
}

/** `npm test`. The longest ones first. */
export const QUICK: readonly Group[] = [
  { name: 'virtual time: rules', folders: ['sim/rules', 'sim/fires'], withoutTemporal: true },
  { name: 'virtual time: seeds, histories', folders: ['sim/seeds'], withoutTemporal: true },
  { name: 'real: programs', folders: ['integration/core/programs'], onLinux: true },
  { name: 'HTTP', folders: ['http'], withoutTemporal: true },
  { name: 'real: runs', folders: ['integration/core/runs'] },
  { name: 'pure rules', folders: ['unit'], withoutTemporal: true },
  { name: 'real: fleets', folders: ['integration/core/fleets'] },
  { name: 'repository', folders: ['repository'], withoutTemporal: true },
  { name: 'virtual time: pooled waits', folders: ['sim/pooled'], withoutTemporal: true },
];

const FOLDERS: readonly Group[] = [
  ...['workers', 'outages', 'temporal', 'runs', 'cloud', 'events', 'production-timings', 'services'],
  ...['starvation', 'rollouts', 'dev', 'traces', 'schedules', 'sandbox'],
].map((folder): Group => ({ name: folder, folders: [`integration/${folder}`], onLinux: true }));

/** What `npm run test:all` runs beside them, the longest ones first. The package downloads what it depends on. */
export const SLOW: readonly Group[] = [
  { name: 'commands', folders: ['integration/commands'], onLinux: true },
  { name: 'package', folders: ['package'], onLinux: true, withoutTemporal: true },
  ...FOLDERS,
  { name: 'recipe of a policy', folders: ['recipe'], withoutTemporal: true },
  { name: 'virtual time: plays', folders: ['sim/parts'], withoutTemporal: true },
];

/** After them, two at a time, because some use much memory. The disasters come first: they wait most of the time. */
export const SCRIPTS: readonly Script[] = [
  { name: 'disasters', args: ['test/disasters/run.ts'] },
  { name: 'specification', args: ['test/spec/run.ts'] },
  { name: 'chaos', args: ['test/model/chaos.ts', '--runs', '60', '--seed', '420000'] },
  { name: 'kubernetes', args: ['test/kubernetes/run.ts'] },
  { name: 'ui', args: ['test/ui/run.ts'] },
  { name: 'production', args: ['test/production/run.ts'] },
  { name: 'monitoring', args: ['test/monitoring/run.ts'] },
  { name: 'linters', args: ['tools/test-linters.ts'] },
];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const isTest = (name: string) => /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(name);

/** The absolute paths, in order. */
export const FILES: readonly string[] = ['src', 'test', 'tools', 'bench']
  .flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${ROOT}${folder}/${name}`),
  )
  .filter((file) => isTest(file) && !file.includes('/node_modules/'))
  .sort();

export const filesOf = ({ folders }: Group): string[] =>
  folders.flatMap((folder) => FILES.filter((file) => file.startsWith(`${ROOT}test/${folder}/`)));

/** A script runs the test files beside it. */
export const runsFile = ({ args: [program] }: Script, file: string): boolean =>
  dirname(file) === dirname(ROOT + program!);

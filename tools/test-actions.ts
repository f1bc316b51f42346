/**
 * `npm run test:all -- actions`: checks .github/workflows, and how they use the action of this repository, with
 * actionlint. Go builds it, which takes some seconds the first time. Exits 75 without Go.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
/** Of sysexits.h: the environment lacks something. */
const EX_TEMPFAIL = 75;

// Without the linters that actionlint would use only where they are installed.
const args = ['run', ACTIONLINT, '-shellcheck=', '-pyflakes='];
const root = fileURLToPath(new URL('..', import.meta.url));
const { status, error } = spawnSync('go', args, { cwd: root, stdio: 'inherit' });
if (error !== undefined) process.stderr.write('actionlint needs Go: install it from https://go.dev/dl/\n');
process.exitCode = error === undefined ? (status ?? 1) : EX_TEMPFAIL;

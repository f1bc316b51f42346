import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findExecutable, type ExecutableDeps } from '../../src/dev/find-server.ts';
import type { BuildProgress } from '../../src/dev/build-server.ts';
import { tempFolder } from '../support/temporal.ts';

interface Stubs {
  /** What `temporal --version` prints; none: there is no such program. */
  temporal?: string;
  /** The body of a shell script in place of `go`. */
  go?: string;
  download?: () => Promise<string>;
}

async function machine({
  temporal,
  go,
  download,
}: Stubs): Promise<ExecutableDeps & { said: string[]; built: BuildProgress[] }> {
  const folder = await tempFolder();
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const program = async (name: string, body: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(bin, name), 0o755);
  };
  if (temporal !== undefined) await program('temporal', `echo "${temporal}"`);
  if (go !== undefined) await program('go', `[ "$1" = version ] && exit 0\n${go}`);
  const said: string[] = [];
  const built: BuildProgress[] = [];
  return {
    cacheFolder: join(folder, 'cache'),
    env: { PATH: `${bin}:/bin` },
    said,
    built,
    say: (line) => said.push(line),
    onBuild: (progress) => built.push(progress),
    download: download ?? (() => Promise.reject(new Error('the download host cannot be reached'))),
  };
}

/** Finds the output's name among the arguments, as `go build` does. */
const GO_BUILD = `
for it in "$@"; do [ "$before" = -o ] && output=$it; before=$it; done
echo "go: downloading example.com/module v1.0.0" >&2
echo "example.com/package" >&2
echo "#!/bin/sh" > "$output"; chmod +x "$output"`;

test('the program on the PATH comes first', async () => {
  const deps = await machine({ temporal: 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)' });
  assert.equal(await findExecutable(deps), 'temporal');
});

test('a program whose server is too old is passed over, and that is said', async () => {
  const deps = await machine({
    temporal: 'temporal version 1.0.0 (Server 1.24.2)',
    download: () => Promise.resolve('/got/it'),
  });
  assert.equal(await findExecutable(deps), '/got/it');
  assert.match(deps.said.join(), /passed over: its server is older than 1\.29\.1/);
});

test("the SDK's download comes second", async () => {
  const deps = await machine({ download: () => Promise.resolve('/got/it'), go: GO_BUILD });
  assert.equal(await findExecutable(deps), '/got/it');
});

test('the Go build comes third, is announced, shows its progress, and is done once only', async () => {
  const deps = await machine({ go: GO_BUILD });
  const path = await findExecutable(deps);
  assert.match(path, /cache\/temporal-v1\.5\.1-/);
  assert.match(deps.said[0] ?? '', /building one with Go.*about 4 minutes/);
  assert.match(deps.said[2] ?? '', /Built in \d+ s, \d+ MB/);
  assert.deepEqual(deps.built, [
    { step: 'fetching', done: 1 },
    { step: 'compiling', done: 1 },
  ]);
  deps.said.length = 0;
  assert.equal(await findExecutable(deps), path);
  assert.deepEqual(deps.said, []);
});

test('a build that fails leaves nothing behind, and says why', async () => {
  const deps = await machine({ go: 'echo "no space left on device" >&2; exit 1' });
  await assert.rejects(findExecutable(deps), /go build ended with 1: no space left on device/);
  await assert.rejects(findExecutable({ ...deps, env: { PATH: '/nowhere' } }), /Go build: no program named go/);
});

test('none of the three is one clear error that names them', async () => {
  const deps = await machine({});
  await assert.rejects(findExecutable(deps), (error: Error) => {
    assert.match(error.message, /no Temporal server can be had here\. Install the Temporal CLI, or Go/);
    for (const way of [
      'on the PATH: no program named temporal',
      'download: the download host',
      'Go build: no program named go',
    ]) {
      assert.ok(error.message.includes(way), error.message);
    }
    return true;
  });
});

import assert from 'node:assert/strict';
import { access, appendFile, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findExecutable, type ExecutableDeps } from '../../src/dev/find-server.ts';
import type { BuildProgress } from '../../src/dev/build-server.ts';
import { tempFolder } from '../support/temporal.ts';

interface Stubs {
  /** What `temporal --version` prints. Undefined if there is no such program. */
  temporal?: string;
  /** The body of a shell script that replaces `go`. */
  go?: string;
  download?: (folder: string) => Promise<string>;
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
    download: download ?? (() => Promise.reject(new Error('the download host is unreachable'))),
  };
}

/** Finds the output's name among the arguments, as `go build` does. */
const GO_BUILD = `
for it in "$@"; do [ "$before" = -o ] && output=$it; before=$it; done
echo "go: downloading example.com/module v1.0.0" >&2
echo "example.com/package" >&2
echo "#!/bin/sh" > "$output"; chmod +x "$output"`;

const CURRENT = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)';

/** A download that makes a program. @returns how often it downloaded */
function downloads(version = CURRENT) {
  let count = 0;
  const download = async (folder: string) => {
    const path = join(folder, 'temporal-cli-v1');
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
    count += 1;
    await writeFile(path, `#!/bin/sh\necho "${version}"\n`, { mode: 0o755 });
    return path;
  };
  return { download, count: () => count };
}

test('a program in the cache that has changed is made again, and the cache is private', async () => {
  const made = downloads();
  const deps = await machine({ download: made.download });
  const path = await findExecutable(deps);
  await findExecutable(deps);
  assert.equal(made.count(), 1);
  await appendFile(path, 'echo planted');
  assert.equal(await findExecutable(deps), path);
  assert.equal(made.count(), 2);
  assert.doesNotMatch(await readFile(path, 'utf8'), /planted/);
  assert.equal((await stat(deps.cacheFolder)).mode & 0o777, 0o700);
});

test('a program without a digest counts only if no one else could have put it there', async () => {
  for (const [mode, times] of [
    [0o755, 0],
    [0o777, 1],
  ] as const) {
    const made = downloads();
    const deps = await machine({ download: made.download });
    await mkdir(deps.cacheFolder);
    await writeFile(join(deps.cacheFolder, 'temporal-cli-v1'), `#!/bin/sh\necho "${CURRENT}"\n`, { mode: 0o755 });
    await chmod(deps.cacheFolder, mode);
    await findExecutable(deps);
    assert.equal(made.count(), times);
  }
});

test('a downloaded program with an outdated server is not used', async () => {
  const deps = await machine({ download: downloads('temporal version 1.0.0 (Server 1.24.2)').download });
  await assert.rejects(findExecutable(deps), /download.*: needs server 1\.29\.1 or newer/);
});

test('the program on the PATH is used first', async () => {
  const deps = await machine({ temporal: 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)' });
  assert.equal(await findExecutable(deps), 'temporal');
});

test('a program with an outdated server is skipped with a message', async () => {
  const deps = await machine({
    temporal: 'temporal version 1.0.0 (Server 1.24.2)',
    download: downloads().download,
  });
  assert.match(await findExecutable(deps), /temporal-cli-v1$/);
  assert.match(deps.said.join(), /Skipping .* needs server 1\.29\.1 or newer, found: temporal version 1\.0\.0/);
});

test("the SDK's download is used second", async () => {
  const deps = await machine({ download: downloads().download, go: GO_BUILD });
  assert.match(await findExecutable(deps), /temporal-cli-v1$/);
});

test('the Go build is used third, announces itself, shows its progress and runs only once', async () => {
  const deps = await machine({ go: GO_BUILD });
  const path = await findExecutable(deps);
  assert.match(path, /cache\/temporal-v1\.5\.1-/);
  assert.match(deps.said[0] ?? '', /Building one with Go.*about 4 minutes/);
  assert.match(deps.said[2] ?? '', /Built in \d+ s, \d+ MB/);
  assert.deepEqual(deps.built, [
    { step: 'fetching', done: 1 },
    { step: 'compiling', done: 1 },
  ]);
  deps.said.length = 0;
  assert.equal(await findExecutable(deps), path);
  assert.deepEqual(deps.said, []);
});

test('a failed build leaves nothing behind and reports why', async () => {
  const deps = await machine({ go: 'echo "no space left on device" >&2; exit 1' });
  await assert.rejects(findExecutable(deps), /go build failed with 1: no space left on device/);
  await assert.rejects(findExecutable({ ...deps, env: { PATH: '/nowhere' } }), /Go build: no program named go/);
});

test('the failure of all three is one error that names them', async () => {
  const deps = await machine({});
  await assert.rejects(findExecutable(deps), (error: Error) => {
    assert.match(error.message, /no Temporal server found\. Install the Temporal CLI or Go/);
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

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writePackages } from '../../tools/packages.ts';
import type { CommandLine } from '../support/command-line.ts';
import { codeBlocks, ROOT } from '../support/readme.ts';
import { tempFolder } from '../support/temporal.ts';
import { fresh } from '../support/world.ts';
import { BIN, installable, packages, pathWithNode, projectWith, run } from './packages.ts';
import { devStack } from './stack.ts';

/** "engines" has a floor and no ceiling: every line that has support, or had it lately. */
const NODES = [20, 22, 24, 26];

const STRICT = ['--strict', '--target', 'es2022', '--types', 'node', '--skipDefaultLibCheck'];

let on: CommandLine;
before(async () => {
  on = await devStack();
});

/** A program that makes a whole run. */
const wholeRun = (load: string) => `${load}
  import { inspect } from 'node:util';
  async function main(): Promise<void> {
    const belay = await connect();
    const pace = { intervalMs: 200, tries: 2_000 };
    const [serverId = '', siteId = ''] = process.argv.slice(2);
    const run = await belay.start({ serverId, siteIds: [siteId], backup: pace, deploy: pace });
    const { outcome } = await run.result();
    const refused = await belay.start({ serverId: '' }).catch((error: unknown) => error);
    console.log(outcome, refused instanceof BelayError, inspect(refused).split(':', 1)[0]);
    await belay.close();
  }
  void main();
`;

/** What each compiles with, and how it loads the library. */
const FORMS = [
  {
    options: ['--module', 'nodenext'],
    files: { 'esm.mts': 'import', 'commonjs.cts': 'import', 'required.cts': 'require' },
  },
  { options: ['--module', 'node16'], files: { 'node16.cts': 'import' } },
  { options: ['--module', 'esnext', '--moduleResolution', 'bundler'], files: { 'bundler.ts': 'import' } },
];
const PROGRAMS = FORMS.flatMap(({ files }) => Object.keys(files).map((file) => file.replace(/ts$/, 'js')));

for (const name of ['belay-deploy', 'belay-cli'] as const) {
  describe(name, () => {
    let tarball: string;
    let project: string;
    before(async () => {
      const { cli, deploy } = await packages();
      tarball = name === 'belay-cli' ? cli : deploy;
      project = await projectWith(tarball);
    });

    test(`publint and arethetypeswrong find nothing in ${name}`, async () => {
      assert.match((await run(project, join(BIN, 'publint'), [tarball, '--strict'])).stdout, /All good!/);
      const { stdout } = await run(project, join(BIN, 'attw'), [tarball, '--no-emoji']);
      assert.match(stdout, /No problems found/);
    });

    test(`programs in ESM, CommonJS and TypeScript make a whole run with ${name} on every Node line`, async (t) => {
      const names = '{ BelayError, connect }';
      const loads = {
        import: `import ${names} from '${name}';`,
        require: `import belay = require('${name}');\nconst ${names} = belay;`,
      };
      for (const { files, options } of FORMS) {
        for (const [file, load] of Object.entries(files))
          writeFileSync(join(project, file), wholeRun(loads[load as keyof typeof loads]));
        await run(project, join(BIN, 'tsc'), [...STRICT, ...options, ...Object.keys(files)]);
      }
      const missing: string[] = [];
      for (const node of NODES) {
        let PATH: string;
        try {
          PATH = pathWithNode(node);
        } catch (error) {
          missing.push((error as Error).message);
          continue;
        }
        await installable(project, PATH);
        await Promise.all(
          PROGRAMS.map(async (program) => {
            const { stdout, stderr } = await run(project, 'node', [program, fresh('s'), fresh('a')], {
              ...on.env,
              PATH,
            });
            assert.deepEqual([stdout, stderr], ['completed true BelayError\n', ''], `${program} on Node ${node}`);
          }),
        );
      }
      if (missing.length > 0) t.skip(missing.join('; '));
    });

    test(`the command line of ${name} works, under both of its names`, async () => {
      for (const bin of ['belay', name]) {
        const { stdout } = await run(project, join(project, 'node_modules/.bin', bin), ['list', '--json'], on.env);
        assert.ok(Array.isArray((JSON.parse(stdout) as { runs: unknown }).runs));
      }
    });

    test(`${name} has the schemas and its manifest under their paths, and no path of the machine that built it`, async () => {
      for (const file of ['package.json', 'docs/belay.schema.json', 'docs/run-result.schema.json']) {
        const load = `import it from '${name}/${file}' with { type: 'json' }; console.log(Object.keys(it).length)`;
        await run(project, process.execPath, ['--input-type=module', '--no-warnings', '--eval', load]);
      }
      const root = fileURLToPath(ROOT);
      const folder = join(project, 'node_modules', name);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
      for (const { parentPath, name: file } of files)
        assert.ok(!readFileSync(join(parentPath, file), 'utf8').includes(root), join(parentPath, file));
      assert.deepEqual(
        files.filter((it) => /\.(png|svg|map)$/.test(it.name)),
        [],
      );
    });
  });
}

test("the README's program compiles strictly with the installed package, runs and loads no worker", async () => {
  const project = await projectWith((await packages()).deploy);
  const [program = ''] = codeBlocks('ts');
  const atEnd = [
    "import { createRequire } from 'node:module';",
    "process.on('exit', () => console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache))));",
  ];
  writeFileSync(join(project, 'release.ts'), `${program}\n${atEnd.join('\n')}\n`);
  // The compiler is the one that the project would install, and has its own libraries checked elsewhere.
  await run(project, join(BIN, 'tsc'), [...STRICT, '--module', 'nodenext', 'release.ts']);
  const { stdout, stderr } = await run(project, process.execPath, ['release.js'], on.env);
  assert.equal(stderr, '');
  const [said, loaded = '[]'] = stdout.trim().split('\n');
  assert.match(said ?? '', /^completed (transition|changed)$/);
  const modules = JSON.parse(loaded) as string[];
  assert.ok(modules.some((file) => file.includes('@temporalio/client')));
  assert.deepEqual(
    modules.filter((file) => /@temporalio\/(worker|core-bridge|testing)|fastify|pino/.test(file)),
    [],
  );
});

const ELSEWHERE = ['demo', 'dev', 'worker', 'webhooks', 'board', 'sandbox', 'codec-server'];

test('commands that need more than Temporal exit 2 in belay-cli, and name belay-deploy', async () => {
  const { file } = await packages();
  for (const command of ELSEWHERE) {
    const { status, stderr } = spawnSync(process.execPath, [file, command], { encoding: 'utf8' });
    assert.deepEqual(
      [status, stderr],
      [
        2,
        `belay: belay-cli has no \`${command}\`, which needs more than Temporal: install belay-deploy, and run \`npx belay-deploy ${command}\`\n`,
      ],
    );
  }
  const help = execFileSync(process.execPath, [file, '--help'], { encoding: 'utf8' });
  const [, lacking = ''] = /\n.*belay-deploy:\n((?: +.*\n)+)/.exec(help) ?? [];
  assert.deepEqual(
    lacking
      .split('\n')
      .flatMap((line) => /^ {2}([a-z-]+) /.exec(line)?.[1] ?? [])
      .sort(),
    [...ELSEWHERE].sort(),
  );
});

test('a message of belay-cli names its own commands, and belay-deploy for those that it lacks', async () => {
  const { file } = await packages();
  const say = (address: string, ...args: string[]) =>
    spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', env: { ...on.env, TEMPORAL_ADDRESS: address } })
      .stderr;
  assert.match(say('127.0.0.1:1', 'list'), /start `npx belay-deploy dev`/);
  assert.match(say('127.0.0.1:1', 'list', '--nope'), /See `npx belay-cli list --help`/);
  const path = join(await tempFolder(), 'belay.yaml');
  assert.match(
    execFileSync(process.execPath, [file, 'init', path], { encoding: 'utf8' }),
    /`npx belay-cli config check`/,
  );
  assert.match(readFileSync(path, 'utf8'), /^## Check it with `npx belay-cli config check`\.$/m);
});

test('belay-cli has no dependency, and lists all that is inside with its license', async () => {
  const { cli } = await packages();
  const read = (name: string) => execFileSync('tar', ['-xOzf', cli, `package/${name}`], { encoding: 'utf8' });
  const manifest = JSON.parse(read('package.json')) as { version: string; dependencies?: object };
  assert.equal(manifest.dependencies, undefined);
  const { metadata, components } = JSON.parse(read('sbom.cdx.json')) as {
    metadata: { component: { version: string } };
    components: { name: string; version: string; purl: string; licenses: { expression: string }[] }[];
  };
  assert.equal(metadata.component.version, manifest.version);
  const notices = read('THIRD-PARTY-NOTICES');
  for (const name of ['@temporalio/client', '@grpc/grpc-js', 'axios', 'zod'])
    assert.ok(
      components.some((it) => it.name === name),
      name,
    );
  for (const { name, version, licenses } of components)
    assert.ok(notices.includes(`\n${name} ${version} (${licenses[0]?.expression})\n`), name);
});

test('the packages are small, and have the same bytes when they are written again', async () => {
  const paths = Object.values(await packages());
  const before = paths.map((path) => readFileSync(path));
  const [cli = Infinity, deploy = Infinity] = paths.map((path) => statSync(path).size);
  assert.ok(cli <= 1_500_000 && deploy <= 1_500_000, `${cli}, ${deploy}`);
  await writePackages();
  for (const [index, path] of paths.entries()) assert.ok(before[index]?.equals(readFileSync(path)), path);
});

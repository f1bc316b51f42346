import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runInProcess } from '../../support/in-process.ts';
import { CLI, environment, run, WITH_BUILD } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { traceProcess } from '../../support/traced-process.ts';

const FILE = `
fleets:
  shop:
    servers:
      12: { sites: [34, 0035], apps: [7] }
      web-2: { sites: ['$(touch ran)', '\`touch ran\`', 'a b', fine] }
rollouts: { steady: { fleet: shop } }
events: { sources: { panel: {} } }
`;

const STARTER = fileURLToPath(new URL('../../../dist/starter.js', import.meta.url));

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(path, text);
  return path;
}

describe('shell completion', () => {
  let file: string;
  before(async () => {
    file = await fileWith(FILE);
  });

  /** What is suggested for the last word, without the line that ends the answer. */
  async function suggestions(words: string[], path = file): Promise<string[]> {
    const { code, stdout } = await runInProcess(['complete', '--', ...words], { BELAY_CONFIG: path });
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines.pop() ?? '', /^:\d+$/);
    return lines;
  }

  const CASES: [words: string[], suggested: string[]][] = [
    [['rol'], ['rollout\tback up and deploy a fleet from belay.yaml, wave by wave']],
    [['status', '--exit'], ['--exit-status\texit with the code of the verdict, or 124 if there is no verdict yet']],
    [['list', '--outcome', 'f'], ['failed\t']],
    [['top', '--site', '3'], ['34\tserver 12, fleet shop']],
    [
      ['top', '--int'],
      ['--interval\twith --site, --app or --fleet: how often to read (default: 5s, longer for a large fleet)'],
    ],
    [
      ['backup', '--server', ''],
      ['12\tfleet shop', 'web-2\tfleet shop'],
    ],
    [['run', '--server', '12', '--site', '0'], ['0035\tserver 12, fleet shop']],
    [['deploy', '--site=3'], ['34\tserver 12, fleet shop']],
    [['deploy', '--app', ''], ['7\tserver 12, fleet shop']],
    [['rollout', 'start', ''], ['steady\tfleet shop']],
    [['events', 'explain', '--source', ''], ['panel\t']],
    [['run', '--json', ''], []],
  ];
  for (const [words, suggested] of CASES) {
    test(`suggests ${JSON.stringify(suggested)} for: belay ${words.join(' ')}`, async () => {
      assert.deepEqual(await suggestions(words), suggested);
    });
  }

  test('suggests no name that a shell would expand', async () => {
    const names = (await suggestions(['deploy', '--site', ''])).map((line) => line.split('\t')[0]);
    assert.deepEqual(names, ['34', '0035', 'fine']);
  });

  test('suggests the names in a file that other commands reject, and none if it is missing or is not YAML', async () => {
    const unfinished = await fileWith('fleets: { shop: { servers: { 12: { sites: [34], labels: [] } } } }\nnotify:\n');
    assert.deepEqual(await suggestions(['deploy', '--site', ''], unfinished), ['34\tserver 12, fleet shop']);
    assert.deepEqual(await suggestions(['deploy', '--site', ''], await fileWith('fleets: [')), []);
    assert.deepEqual(await suggestions(['deploy', '--site', ''], join(dirname(unfinished), 'missing.yaml')), []);
  });

  test('loads no module of Temporal and opens no socket', WITH_BUILD, async () => {
    const answered = await traceProcess([CLI, 'complete', '--', 'run', '--site', ''], { BELAY_CONFIG: file });
    assert.equal(answered.code, 0);
    assert.ok(answered.files.some((url) => url.endsWith('/dist/cli/completion.js')));
    assert.deepEqual(
      answered.files.filter((url) => /\/@temporalio\/|\/zod\//.test(url)),
      [],
    );
    assert.deepEqual(answered.sockets, []);
  });

  test('the trace of a process shows a loaded Temporal and an opened socket', WITH_BUILD, async () => {
    const listen = "require('net').createServer().listen(0, '127.0.0.1', function () { this.close(); })";
    const script = `import(${JSON.stringify(STARTER)}); ${listen};`;
    const { files, sockets } = await traceProcess(['--eval', script]);
    assert.ok(files.some((url) => url.includes('/@temporalio/client/')));
    assert.ok(sockets.includes('TCPSERVERWRAP'));
  });

  test('the script for bash completes a name from belay.yaml', async () => {
    // The function of the package bash-completion that the script calls.
    const script = `
      belay() { "$NODE" "$CLI" "$@"; }
      _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cur="\${COMP_WORDS[COMP_CWORD]}"; }
      source <(belay complete bash)
      COMP_WORDS=(belay deploy --site "") COMP_CWORD=3
      $(complete -p belay | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"
    `;
    const folder = dirname(file);
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: folder,
      env: environment({ NODE: process.execPath, CLI, BELAY_CONFIG: file }),
    });
    assert.deepEqual(stdout.trimEnd().split('\n'), ['34', '0035', 'fine']);
    assert.ok(!existsSync(join(folder, 'ran')));
  });

  test('complete exits 2 without a shell, and names the shells if it does not know one', async () => {
    const missing = await run(['complete']);
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    assert.match(missing.stderr, /missing required argument 'shell'/);
    const unknown = await runInProcess(['complete', 'tcsh']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /'tcsh' is invalid .* zsh, bash, fish, powershell\./);
  });
});

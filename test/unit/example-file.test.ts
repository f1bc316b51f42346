/** The belay.yaml that `belay init` writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_FILE } from '../../src/cli/config-actions.ts';
import { parseConfiguration } from '../../src/config/parse-configuration.ts';

const examples = EXAMPLE_FILE.split('\n')
  .filter((line) => !line.startsWith('##'))
  .map((line) => line.replace(/^#/, ''))
  .join('\n');

test('the example configures nothing as it is, and all that it shows without its #', () => {
  assert.deepEqual(parseConfiguration(EXAMPLE_FILE, 'belay.yaml'), {});
  const configuration = parseConfiguration(examples, 'belay.yaml');
  assert.deepEqual(Object.keys(configuration).sort(), ['fleets', 'freezes', 'rollouts', 'schedules', 'service']);
});

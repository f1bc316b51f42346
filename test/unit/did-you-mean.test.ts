import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from '../../src/config/parse-configuration.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';

const problemOf = (text: string): string => {
  try {
    parseConfiguration(text, 'belay.yaml');
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

const PAGE = 'see docs/reference/belay-yaml.md';

test('an unknown key of belay.yaml gets the key that was meant, at any depth, and the page that lists all', () => {
  const fleet = 'fleets: { shop: { servers: { 12: { sites: [34] } } } }\n';
  for (const [text, says] of [
    ['flets: {}', `belay.yaml:1: flets: there is no such key (did you mean fleets?); ${PAGE}`],
    [
      'rollouts: { steady: { fleet: shop, backup: { maxage: 1h } } }',
      `there is no such key (did you mean maxAge?); ${PAGE}`,
    ],
    ['fleets: { shop: { servers: { 12: { site: [34] } } } }', `(did you mean sites?); ${PAGE}`],
    [`${fleet}rollouts: { steady: { fleet: shop, maxAtonse: 2 } }`, `(did you mean maxAtOnce?); ${PAGE}`],
    ['colour: red', `belay.yaml:1: colour: there is no such key; ${PAGE}`],
  ] as const) {
    const problem = problemOf(text);
    assert.ok(problem.endsWith(says), problem);
  }
});

test('an unknown field of an input gets the field that was meant, and the schema that lists all', () => {
  assert.equal(
    validateRunInput('deployOnly', { siteIds: ['34'], keepgoing: true }),
    "keepgoing: is not a field of a run's input (did you mean keepGoing?); see docs/run-input.schema.json",
  );
  assert.match(
    validateRunInput('deployOnly', { siteIds: ['34'], deploy: { trys: 3 } }) ?? '',
    /^deploy\.trys: .*\(did you mean tries\?\)/,
  );
});

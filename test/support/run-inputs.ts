/** Good and bad inputs of runs, generated from their JSON Schema, so a new field needs no change here. */
import fc from 'fast-check';

export interface Node {
  /** None: one of `anyOf`. */
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  enum?: string[];
  pattern?: string;
  examples?: string[];
  required?: string[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}
export type Fields = Record<string, unknown>;

/**
 * JSON Schema counts characters, and Belay counts UTF-16 units in a run's input. A schema cannot reconcile the two, so
 * texts on which they differ are omitted. ajv does not detect a duplicate "__proto__" in a list.
 */
export const isCountedAlike = (text: string) => text.length > 200 === [...text].length > 200;
const isFair = (text: string) => isCountedAlike(text) && text !== '__proto__';

const goodId = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 }),
    fc.constantFrom('a'.repeat(200), 'ä', '...', 'a b', '%', '/', '😀'),
  )
  .filter((id) => id !== '.' && id !== '..' && id.trim() === id && id.length <= 200 && isFair(id));
const badId = fc.constantFrom<unknown[]>(
  ...[
    '',
    '.',
    '..',
    'a\n',
    '\u0000',
    '\u001f',
    'a\u007f',
    '\u0080',
    'a\u009fb',
    '\ud800',
    'a\udc00',
    'a'.repeat(201),
    ' ',
    ' a',
    'a\u00a0',
  ],
  ...[null, 1, true, ['a'], {}],
);
const anyId = fc.string({ unit: 'binary', maxLength: 210 }).filter(isFair);

const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }).filter((text) => text !== '__proto__');
const goodMeta = fc.dictionary(name, fc.string({ unit: 'binary' }), { maxKeys: 5 });
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 'v']));
const badMeta = fc.constantFrom<unknown[]>(
  ...[{ '': 'v' }, { ['n'.repeat(201)]: 'v' }, { n: 1 }, { n: null }, { n: {} }, entries(51), [], ['v'], null, 'v', 1],
);

const goodSites = fc.uniqueArray(goodId, { maxLength: 5 });
const sites = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`);
const badSites = fc.oneof(
  fc.constantFrom<unknown[]>(sites(1_001), null, 'a', {}, 1, ['a', ['a']]),
  fc.tuple(goodSites, badId).map(([good, bad]) => [...good, bad]),
  goodSites.filter((good) => good.length > 0).map((good) => [...good, good[0]]),
);

const goodTargets = goodSites.chain((ids) =>
  fc.tuple(...ids.map((id) => fc.constantFrom('site', 'app').map((kind) => ({ kind, id })))),
);
const app = { kind: 'app', id: 'b1' };
const badTargets = fc.oneof(
  badSites.filter((value) => !Array.isArray(value) || value.length > 0),
  fc.constantFrom<unknown[]>(
    ...[[app, { id: 'b1', kind: 'app' }], [{ ...app, kind: 'server' }], [{ ...app, path: '/' }], [{ id: 'b1' }], [{}]],
  ),
  badId.map((id) => [{ kind: 'site', id }]),
);
const isTargets = ({ items }: Node) => items?.properties?.['kind'] !== undefined && !isLetOff({ items });

/** What the override of a rollout lets its run off. */
const isLetOff = ({ items }: Node) => items?.properties?.['name'] !== undefined;
const freeze = { kind: 'freeze', name: 'freeze:all', since: '2026-03-02T08:00:00.000Z' };
const goodLetOff = fc.constantFrom([], [freeze], [freeze, { kind: 'window', name: 'night' }]);
const badLetOff = fc.constantFrom<unknown[]>(
  ...[[null], [{ kind: 'freeze' }], [{ name: 'a' }], [{ ...freeze, kind: 'gate' }], [{ ...freeze, since: 1 }]],
  ...[[{ ...freeze, to: 'a' }], Array(21).fill(freeze), {}, null, 'a', 1],
);

/** What was approved, of which workers look at more than the shape. */
const isApproved = ({ items }: Node) => items?.properties?.['yeses'] !== undefined;
const plan = { rules: [], parts: {} };
const part = { targets: [], path: [] };
const yes = { by: 'ana', proof: { kind: 'none' } };
const goodApproved = fc.constantFrom(
  ...[
    [],
    [{ plan, part, yeses: [] }],
    [
      { plan, part, yeses: [yes, yes] },
      { plan, part, yeses: [] },
    ],
  ],
);
const badApproved = fc.constantFrom<unknown[]>(
  ...[[null], [{ plan, part }], [{ part, yeses: [] }], [{ plan: {}, part, yeses: [] }], [{ plan, yeses: [] }]],
  ...[[{ plan, part, yeses: [{ by: 'ana' }] }]],
  ...[Array(3).fill({ plan, part, yeses: [] }), {}, null, 'a', 1],
);

/** A text for people, of which only blanks are wrong. */
const isProse = ({ pattern }: Node) => pattern === '\\S';
const goodProse = fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }).filter((text) => text.trim() !== '');
const badProse = fc.constantFrom<unknown[]>('', ' ', '\n\t', null, 1, true, [], {});

/** Values that a node allows. */
export function good(node: Node): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0 } = node;
  if (node.type === undefined) return fc.oneof(...(node.anyOf ?? []).map(good));
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  if (node.examples !== undefined) return fc.constantFrom(...node.examples);
  if (node.type === 'integer') return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
  if (node.type === 'boolean') return fc.boolean();
  if (isTargets(node)) return goodTargets;
  if (isApproved(node)) return goodApproved;
  if (isLetOff(node)) return goodLetOff;
  if (node.type === 'array') {
    const { minItems: least = 0, maxItems: most = 0 } = node;
    const few = goodSites.filter(({ length }) => length >= least);
    return fc.oneof({ arbitrary: few, weight: 50 }, fc.constant(sites(most)));
  }
  if (isProse(node)) return goodProse;
  if (node.type === 'string') return node.pattern === undefined ? fc.string({ unit: 'binary' }) : goodId;
  return node.properties === undefined
    ? fc.oneof(goodMeta, fc.constant(entries(50)))
    : fields(node.properties, good, node.required).map(withOneList).map(withCommit).map(withSupersede).filter(hasAim);
}

/** Values that a node rejects, with one error. */
export function bad(node: Node): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0 } = node;
  if (node.type === undefined) return fc.constantFrom<unknown[]>('', ' a', [], [''], ['a', 'a'], 1, null, true, {});
  if (node.enum !== undefined) return fc.constantFrom('', 'hope', `${node.enum[0]} `, 0, null, [...node.enum], true);
  if (node.type === 'integer') {
    return fc.constantFrom<unknown[]>(min - 1, max + 1, min + 0.5, 1e300, -min - 1, `${min}`, null, true, [min], {});
  }
  if (node.type === 'boolean') return fc.constantFrom<unknown[]>('true', 0, 1, null, [], {});
  if (isTargets(node)) return badTargets;
  if (isApproved(node)) return badApproved;
  if (isLetOff(node)) return badLetOff;
  if (node.type === 'array') return (node.minItems ?? 0) > 0 ? fc.oneof(badSites, fc.constant([])) : badSites;
  if (isProse(node)) return badProse;
  if (node.type === 'string') return node.pattern === undefined ? fc.constantFrom<unknown[]>(null, 1, [], {}) : badId;
  return node.properties === undefined ? badMeta : badFields(node, node.properties);
}

/** Arbitrary values, so that both cases occur. */
export function mixed(node: Node): fc.Arbitrary<unknown> {
  const whole = node.properties === undefined ? good(node) : fields(node.properties, mixed, node.required);
  const odd = fc.oneof(fc.jsonValue(), anyId, fc.array(anyId), fc.integer({ min: -1, max: 100_000 }));
  return fc.oneof({ arbitrary: whole, weight: 40 }, { arbitrary: bad(node), weight: 1 }, { arbitrary: odd, weight: 1 });
}

/** An input names sites or targets, not both. */
const withOneList = ({ siteIds, targets, ...rest }: Fields): Fields =>
  targets === undefined ? (siteIds === undefined ? rest : { ...rest, siteIds }) : { ...rest, targets };

/** Any other commit is accepted only beside an expected one. */
const withCommit = ({ orNewer, ...rest }: Fields): Fields =>
  orNewer === undefined || rest.commit === undefined ? rest : { ...rest, orNewer };

/** Only a run that deploys, and that waits for the lock, replaces others. */
const withSupersede = ({ supersede, ...rest }: Fields): Fields => {
  const { targets = rest.siteIds, ifBusy } = rest;
  const isReplacing = supersede === true && Array.isArray(targets) && targets.length > 0 && ifBusy !== 'fail';
  return isReplacing ? { ...rest, supersede } : rest;
};

/** An input without a server and a target is invalid. */
const hasAim = ({ serverId, siteIds, targets = siteIds }: Fields) =>
  serverId !== undefined || !Array.isArray(targets) || targets.length > 0;

function fields(
  properties: Record<string, Node>,
  value: (node: Node) => fc.Arbitrary<unknown>,
  required = 'siteIds' in properties ? ['siteIds'] : [],
): fc.Arbitrary<Fields> {
  const values = Object.fromEntries(Object.entries(properties).map(([field, node]) => [field, value(node)]));
  return fc.record(values, { requiredKeys: required });
}

function badFields(node: Node, properties: Record<string, Node>): fc.Arbitrary<unknown> {
  const unknown = fc.string().filter((field) => !(field in properties));
  const strange = fc.tuple(good(node), unknown, fc.jsonValue());
  const spoilt = Object.entries(properties).map(([field, child]) =>
    fc.tuple(good(node), bad(child)).map(([whole, value]) => ({ ...(whole as Fields), [field]: value })),
  );
  return fc.oneof(
    fc.constantFrom<unknown[]>(null, [], 'text', 1, true),
    strange.map(([whole, field, value]) => ({ ...(whole as Fields), [field]: value })),
    ...spoilt,
  );
}

/** The path of every number with its limits. */
export function numbersOf({ properties = {} }: Node, path: string[] = []): [string[], min: number, max: number][] {
  return Object.entries(properties).flatMap(([field, node]) =>
    node.type === 'integer' ? [[[...path, field], node.minimum!, node.maximum!]] : numbersOf(node, [...path, field]),
  );
}

/** `{ deploy: { tries: 1 } }` for the path `deploy`, `tries`. */
export function at(path: string[], value: unknown): Fields {
  return path.reduceRight((inner, field) => ({ [field]: inner }), value) as Fields;
}

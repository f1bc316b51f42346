/** Whether the keys of a gate in belay.yaml fit what it measures: Prometheus, or a page. */
import type { GateConfig } from './config.ts';
import type { ConfigIssue, Path } from '../../config/file/config-issue.ts';

type Key = keyof GateConfig;

const OF_PROMETHEUS: readonly Key[] = ['query', 'token'];
const EXPECTATIONS: readonly Key[] = ['status', 'header', 'body', 'json'];
const OF_PAGES: readonly Key[] = [...EXPECTATIONS, 'requestHeaders', 'value'];

/** @returns what to report first, below the gate's key; null if all fits */
export function misfitIn(gate: GateConfig): ConfigIssue | null {
  const { prometheus, url, min, max } = gate;
  if (prometheus !== undefined && url !== undefined)
    return issue(['url'], 'a gate measures either Prometheus or a page: remove url: or prometheus:');
  if (prometheus === undefined && url === undefined)
    return issue([], 'write prometheus: with query:, or url:, below it');
  const isPage = url !== undefined;
  const foreign = (isPage ? OF_PROMETHEUS : OF_PAGES).find((key) => gate[key] !== undefined);
  if (foreign !== undefined) {
    const [other, own] = isPage ? ['prometheus', 'url'] : ['url', 'prometheus'];
    return issue([foreign], `it goes with ${other}:, and this gate has ${own}: remove it`);
  }
  return (
    (isPage ? pageIssue(gate) : queryIssue(gate)) ??
    amountIssue(gate, isPage) ??
    ((min ?? -Infinity) > (max ?? Infinity) ? issue([], 'min is more than max: no value is good') : null)
  );
}

const issue = (path: Path, message: string): ConfigIssue => ({ path, message });

const hasLimits = ({ min, max }: GateConfig): boolean => min !== undefined || max !== undefined;

function queryIssue(gate: GateConfig): ConfigIssue | null {
  if (gate.query === undefined) return issue([], 'write query: and min: or max: below it');
  return hasLimits(gate) ? null : issue([], 'write min:, max: or both');
}

function pageIssue(gate: GateConfig): ConfigIssue | null {
  const { value, min } = gate;
  if (value !== undefined)
    return hasLimits(gate) ? null : issue(['value'], 'it has no limits: write min:, max: or both beside it');
  if (hasLimits(gate))
    return issue([min === undefined ? 'max' : 'min'], 'write value: beside it, the path of a number in the JSON body');
  const isEmpty = EXPECTATIONS.every((key) => gate[key] === undefined || Object.keys(gate[key]).length === 0);
  return isEmpty ? issue([], 'write what is good: status:, header:, body:, json:, or value: with min: or max:') : null;
}

function amountIssue({ atLeast }: GateConfig, isPage: boolean): ConfigIssue | null {
  if (atLeast === undefined) return null;
  const [right, wrong] = isPage ? (['value', 'query'] as const) : (['query', 'value'] as const);
  if (atLeast[right] !== undefined && atLeast[wrong] === undefined) return null;
  return issue(['atLeast'], `write ${right}: and min: below it, as the gate has ${isPage ? 'url' : 'prometheus'}:`);
}

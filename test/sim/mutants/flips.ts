/** Operators of the pure rules, flipped one by one: what no one thought of breaking. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import ts from 'typescript';
import type { Change, Mutant } from '../../mutants/mutant.ts';

const RULES = 'src/rules';
const ROOT = new URL('../../../', import.meta.url);

const OPPOSITE = new Map<string, string>(
  (
    [
      ['>=', '<'],
      ['>', '<='],
      ['&&', '||'],
      ['===', '!=='],
    ] as const
  ).flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
);

/** @param draw another number draws other operators */
export function flippedOperators(count: number, draw: number): Mutant[] {
  const all = readdirSync(new URL(RULES, ROOT)).flatMap((name) => flipsOf(`${RULES}/${name}`));
  return fc.sample(fc.shuffledSubarray(all, { minLength: count, maxLength: count }), { seed: draw, numRuns: 1 })[0]!;
}

function flipsOf(file: string): Mutant[] {
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node)) {
      const operator = node.operatorToken.getText(source);
      const opposite = OPPOSITE.get(operator);
      if (opposite !== undefined) found.push(flip(file, text, node.operatorToken.getStart(source), operator, opposite));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function flip(file: string, text: string, at: number, operator: string, opposite: string): Mutant {
  const line = text.slice(0, at).split('\n').length;
  const whole = text.split('\n')[line - 1]!.trim();
  const rule = `${file.slice(RULES.length + 1)}:${line} \`${operator}\` as \`${opposite}\`: \`${whole.replaceAll('|', '\\|')}\``;
  return { rule, changes: [uniqueChange(file, text, at, operator, opposite)] };
}

/** With as much of the text around it as makes it unique. */
function uniqueChange(file: string, text: string, at: number, operator: string, opposite: string): Change {
  for (let around = 8; ; around *= 2) {
    const [start, end] = [Math.max(0, at - around), Math.min(text.length, at + operator.length + around)];
    const from = text.slice(start, end);
    const to = text.slice(start, at) + opposite + text.slice(at + operator.length, end);
    if (text.split(from).length === 2) return { file, from, to };
  }
}

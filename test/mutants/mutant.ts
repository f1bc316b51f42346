/** A rule of Belay that is broken on purpose. Whatever guards the rule has to notice. */
export interface Mutant {
  /** What goes for the rule. */
  rule: string;
  /** Applied in this order. Each text must occur exactly once. */
  changes: Change[];
}

export interface Change {
  file: string;
  from: string;
  to: string;
}

/** A mutant that one test notices. */
export interface TestedMutant extends Mutant {
  test: NamedTest;
}

interface NamedTest {
  /** Below `test/`. */
  file: string;
  /** Part of the name, as the file spells it. */
  name: string;
}

export const unit = (file: string, name: string): NamedTest => ({ file: `unit/${file}.test.ts`, name });
/** In virtual time. */
export const sim = (file: string, name: string): NamedTest => ({ file: `sim/${file}.test.ts`, name });
export const http = (file: string, name: string): NamedTest => ({ file: `http/${file}.test.ts`, name });
export const integration = (file: string, name: string): NamedTest => ({ file: `integration/${file}.test.ts`, name });

/** @param file below `src/` */
export const change = (file: string, from: string, to: string): Change => ({ file: `src/${file}`, from, to });

/** @throws Error if the text to replace does not occur exactly once */
export function changed(text: string, { file, from, to }: Change): string {
  if (text.split(from).length !== 2) throw new Error(`${file} does not contain this exactly once: ${from}`);
  return text.replace(from, () => to);
}

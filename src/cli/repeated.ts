/** What happens to an option that is given twice: it collects its values, or the command is refused. */
import { InvalidArgumentError, Option, type Command } from 'commander';

/** Any other option is given at most once: see `refuseRepeated`. */
export class RepeatableOption<T> extends Option {
  constructor(flags: string, description: string, collect: (text: string, before?: T) => T) {
    super(flags, description);
    this.argParser(collect);
  }
}

/** Commander would take the last value alone, so a second server would silently replace the first. */
export function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    if (option instanceof RepeatableOption) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`${option.long ?? option.flags} is given twice: give it once`);
      isGiven = true;
    });
  }
}

/** Collects different values in the order of the command line. */
export function collectOf<T>(parse: (text: string) => T) {
  return (text: string, before: T[] = []): T[] => {
    const value = parse(text);
    if (before.includes(value)) throw new InvalidArgumentError(`"${text}" is given twice. Give it once.`);
    return [...before, value];
  };
}

/** The same, but a value that is alone stays as it is: the input of a run has an id, or a list. */
export function oneOrMoreOf<T>(parse: (text: string) => T) {
  const collect = collectOf(parse);
  return (text: string, before?: T | T[]): T | T[] =>
    before === undefined ? parse(text) : collect(text, [before].flat() as T[]);
}

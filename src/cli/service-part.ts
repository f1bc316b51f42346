/** Which service it would be for. */
import type { Part } from './planned.ts';

export const servicePart: Part = {
  name: 'service',
  async look(_planned, { belay, named }) {
    const service = named ?? (await belay.findService());
    return { value: service, lines: [`service: ${service ?? 'unknown: nothing names one and no worker polls'}`] };
  },
};

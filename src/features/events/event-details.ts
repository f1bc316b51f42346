/** What the page of an event in the Temporal UI shows about its present. */
import type { EventInput, EventResult } from './shapes.ts';
import { eventSubjects } from './event-subjects.ts';
import { factList, uiPage, workflowLink } from '../../contract/markdown.ts';
import { codeSpan } from '../../contract/safe-text.ts';

export function eventDetails({ event, source, verified }: EventInput, result: EventResult): string {
  const ids = eventSubjects(event, codeSpan);
  const { woken, held = [], notified, otherThan } = result;
  return uiPage(
    `**${event.kind}** from ${codeSpan(source)}${verified ? '' : ', not verified'}`,
    factList({
      'Kind as sent': event.rawKind === null ? null : codeSpan(event.rawKind),
      Names: ids.length === 0 ? 'no server, site or backup' : ids.join(', '),
      'Of another service':
        otherThan === undefined ? null : `the workers serve ${codeSpan(otherThan)}, so it has no effect`,
      'Too late': result.late === true ? 'it wakes, holds and shares nothing' : null,
      'Woken to read now': linksTo(woken),
      'Rollouts that hold this server': linksTo(held),
      Shared: result.shared ? 'the next run that needs a backup of this server may use this one' : null,
      Notified: notified.length === 0 ? null : notified.map((it) => codeSpan(it)).join(', '),
    }),
  );
}

const linksTo = (ids: readonly string[]): string | null =>
  ids.length === 0 ? null : ids.map((id) => workflowLink(id)).join(', ');

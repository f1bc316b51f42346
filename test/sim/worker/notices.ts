/** The channels and heartbeats of the workers, without HTTP: what they receive, and what they do first instead. */
import { ApplicationFailure } from '@temporalio/common';
import type { NotifySettings } from '../../../src/contract/activities.ts';
import type { ReportAnswer, ReportMessage } from '../../../src/features/notifications/shapes.ts';
import type { NotifyInput } from '../../../src/features/notifications/shapes.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import type { Process } from './process.ts';

/** What a channel does instead of accepting a message. */
type Trouble = 'hangs' | 'fails';

export interface Notices {
  /** What the channels accepted, in order. */
  readonly taken: NotifyInput[];
  /** The heartbeats that were called, in order. */
  readonly beats: string[];
  /** What places outside were told of runs, in order. */
  readonly reported: ReportMessage[];
  /** What answers the next reports instead of taking them, once each. */
  readonly reportTroubles: Exclude<ReportAnswer, { kind: 'taken' }>[];
  /** What meets the next messages to a channel, once each. */
  readonly troubles: { channel: string; does: Trouble }[];
}

export const createNotices = (): Notices => ({ taken: [], beats: [], reported: [], reportTroubles: [], troubles: [] });

/** What the notifier of a worker does. */
export function createNotifier(
  { taken, beats, reported, reportTroubles, troubles }: Notices,
  settings: NotifySettings | undefined,
  process: Process,
) {
  return {
    async sendNotification(input: NotifyInput): Promise<boolean> {
      const { channel } = input;
      if (settings?.channels.includes(channel) !== true) return false;
      const index = troubles.findIndex((it) => it.channel === channel);
      const [trouble] = index < 0 ? [] : troubles.splice(index, 1);
      if (trouble?.does === 'hangs') await process.sleep(TIMING.notify.answerMs);
      if (trouble !== undefined) throw ApplicationFailure.create({ message: `channel ${channel} ${trouble.does}` });
      taken.push(input);
      return true;
    },
    sendReport(message: ReportMessage): Promise<ReportAnswer> {
      const trouble = reportTroubles.shift();
      if (trouble === undefined) reported.push(message);
      return Promise.resolve(trouble ?? { kind: 'taken' });
    },
    callHeartbeat(name: string): Promise<boolean> {
      const isKnown = settings?.heartbeats.includes(name) === true;
      if (isKnown) beats.push(name);
      return Promise.resolve(isKnown);
    },
  };
}

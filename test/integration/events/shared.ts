/** The stack of all suites of events. The service ends nothing by itself; two channels and two heartbeats are configured. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Configuration } from '../../../src/config/file/file-schema.ts';
import type { EventResult } from '../../../src/features/events/shapes.ts';
import type { Notification } from '../../../src/features/notifications/shapes.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { secretFile } from '../../support/receiver.ts';
import { startTestStack, type TestStack } from '../../support/world.ts';

/** Part of every address, because an address is a secret. */
export const CANARY = 'canary-c41d7e02b6';

export type Message = { text: string } & Notification;

/** What the channels received, in order. */
export const taken: { target: string; key: unknown; body: string; message: Message }[] = [];
/** What a channel does instead of accepting a message that contains this name: once, or until a test takes it away. */
export const troubles: { target: string; name: string; does: 'reset' | number; lasts?: true }[] = [];

export interface EventStack extends TestStack {
  chat: LiteralService;
  /** Of its worker. */
  configuration: Configuration;
}

let started: Promise<EventStack> | undefined;

export const eventStack = (): Promise<EventStack> => (started ??= start());

async function start(): Promise<EventStack> {
  const chat = await literalService(answer);
  const at = (target: string) => addressAt(chat, target);
  const notify = {
    targets: { ops: await at('ops'), team: await at('team') },
    heartbeats: { night: await at('night'), noon: await at('noon') },
  };
  const endless = { ends: 'never' };
  const defaults = { backup: endless, deployment: endless };
  const configuration = { notify };
  return { ...(await startTestStack({ configuration, defaults })), chat, configuration };
}

/** A secret file with the address of a channel or heartbeat. */
export const addressAt = ({ url }: LiteralService, target: string) => secretFile(`${url}/${target}/${CANARY}`);

function answer(request: IncomingMessage, response: ServerResponse): void {
  void text(request).then((body) => {
    const target = request.url?.split('/')[1] ?? '';
    const index = troubles.findIndex((it) => it.target === target && body.includes(it.name));
    const { does, lasts } = troubles[index] ?? {};
    if (does !== undefined && lasts === undefined) troubles.splice(index, 1);
    if (does === 'reset') return void request.socket.destroy();
    if (does !== undefined) return void response.writeHead(does, { location: '/elsewhere' }).end();
    const key = request.headers['idempotency-key'];
    if (body !== '') taken.push({ target, key, body, message: JSON.parse(body) as Message });
    response.end('ok');
  });
}

export const takenOf = (key: string) => taken.filter((it) => it.key === key);
/** The ids of these events in the notifications of one channel, one per notification. */
export const notifiedOf = (events: string[]): unknown[] =>
  taken.flatMap(({ target, key }) => (target === 'ops' && events.includes(String(key)) ? [key] : [])).toSorted();

export const targetsOf = (key: string): string[] => takenOf(key).map(({ target }) => target);

/** What handling the event caused. */
export const handled = async (workflowId: string): Promise<EventResult> => {
  const { client } = await eventStack();
  return client.workflow.getHandle(workflowId).result() as Promise<EventResult>;
};

/**
 * A connection to Temporal that is replaced when its credentials change: calls that have begun end on the old one, later
 * ones use the new one. A worker and a client differ in the SDK's class for it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ConnectionLike } from '@temporalio/client';
import type { Access, Credentials } from '../../config/credentials.ts';
import { TIMING } from '../../contract/timing.ts';
import { messageOf } from '../../contract/message-of.ts';
import { answers } from './answers.ts';
import { scopedConnection } from './scoped-connection.ts';

type Connection = ConnectionLike & { setApiKey(key: string): void | Promise<void> };

export interface Opened<C extends Connection> {
  connection: C;
  close(): Promise<void>;
}

export interface CredentialsState {
  /** Whether those in the files are in use. */
  areGood: boolean;
  certificateEndMs: number | null;
}

export interface LiveOptions<C extends Connection> {
  /** Null: they never change. */
  credentials: Credentials | null;
  connect(access: Access): Promise<Opened<C>>;
  /** Called with each later connection, before it is used. */
  adopt?(connection: C): void;
  /** Called after each look at the files. */
  onLook?(state: CredentialsState): void;
  /** Called once for each new problem, and with null when new credentials are in use. */
  report(problem: string | null): void;
}

export interface LiveConnection<C extends Connection> {
  /** Stands for the one in use. */
  connection: ConnectionLike;
  inUse(): C;
}

/** @param access what the first connection was opened with */
export function createLiveConnection<C extends Connection>(
  first: Opened<C>,
  access: Access,
  options: LiveOptions<C>,
): LiveConnection<C> {
  const open = new Set([first]);
  let [current, used] = [first, access];
  let problem: string | null = null;
  let isClosed = false;

  function conclude(found: string | null): void {
    if (found !== null && found !== problem) options.report(found);
    problem = found;
    options.onLook?.({ areGood: found === null, certificateEndMs: used.certificateEndMs });
  }

  async function look(credentials: Credentials): Promise<void> {
    const next = credentials.read();
    if (!isDeepStrictEqual(next.connectionOptions, used.connectionOptions)) {
      const opened = await options.connect(next).catch(async (error: unknown) => {
        if (await answers(current.connection)) throw error;
        return null;
      });
      // While Temporal is away, nothing is known of the new ones.
      if (opened === null) return;
      if (isClosed) return opened.close();
      replace(opened, next);
    }
    conclude(null);
  }

  function replace(opened: Opened<C>, next: Access): void {
    open.add(opened);
    options.adopt?.(opened.connection);
    const { apiKey } = next.connectionOptions;
    // The old key may not outlive the calls that have begun.
    if (apiKey !== undefined) for (const { connection } of open) void connection.setApiKey(apiKey);
    const previous = current;
    [current, used] = [opened, next];
    options.report(null);
    const end = () => void (open.delete(previous) && previous.close().catch(() => undefined));
    setTimeout(end, TIMING.credentials.lingerMs).unref();
  }

  const { credentials } = options;
  const stopLooking = credentials === null ? () => undefined : repeat(() => look(credentials).catch(failed));
  const failed = (error: unknown) => conclude(messageOf(error));
  options.onLook?.({ areGood: true, certificateEndMs: access.certificateEndMs });

  async function close(): Promise<void> {
    isClosed = true;
    stopLooking();
    await Promise.all([...open].map((it) => it.close()));
  }

  const inUse = () => current.connection;
  return { connection: scopedConnection(inUse, { close }), inUse };
}

/** Not while it still acts. @returns what stops it */
function repeat(act: () => Promise<void>): () => void {
  let acting: Promise<void> | null = null;
  const timer = setInterval(
    () => void (acting ??= act().finally(() => (acting = null))),
    TIMING.credentials.lookAgainMs,
  );
  timer.unref();
  return () => clearInterval(timer);
}

/** What stands between a worker and the sandbox, and can be taken down. */
import { connect, createServer, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';
import { lastingPort } from './lasting-port.ts';
import { http } from './raw-service.ts';

export interface Relay {
  url: string;
  /** Open connections stay, new ones are refused. */
  close: () => void;
  /** No connection stays, and new ones are refused. */
  cut: () => void;
  /** No connection stays, and requests are answered 503. */
  fail: () => void;
  /** Requests wait until it is open again. */
  hold: () => void;
  /** How many requests wait. */
  readonly held: number;
  /** Everything works again. */
  open: () => Promise<void>;
}

export async function relayTo(serviceUrl: string): Promise<Relay> {
  const { port: target, hostname } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let failing = false;
  const held: (() => void)[] = [];
  let isHolding = false;
  const server = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    if (failing) return void answer503(socket);
    const onward = connect(Number(target), hostname);
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('data', (chunk) => {
      const pass = () => void onward.write(chunk);
      if (isHolding) held.push(pass);
      else pass();
    });
    onward.pipe(socket);
  });
  const dropAll = () => sockets.forEach((socket) => socket.destroy());
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => void server.close();
  const port = await lastingPort();
  await listen(port);
  atEnd(async () => close());
  return {
    url: `http://127.0.0.1:${port}`,
    close,
    cut() {
      close();
      dropAll();
    },
    fail() {
      failing = true;
      dropAll();
    },
    hold: () => void (isHolding = true),
    get held() {
      return held.length;
    },
    async open() {
      isHolding = false;
      for (const pass of held.splice(0)) pass();
      if (failing) dropAll();
      failing = false;
      if (!server.listening) await listen(port);
    },
  };
}

function answer503(socket: Socket): void {
  socket.on('error', () => undefined).once('data', () => socket.end(http('503 Service Unavailable', 'down')));
}

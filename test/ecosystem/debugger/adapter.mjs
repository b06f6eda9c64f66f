// Speaks the Debug Adapter Protocol with a real debugpy, by the stdin and stdout of `python -m debugpy.adapter` or, of a child, by a socket.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';

export class Debugger {
  /** What the adapter tells of its own accord, and what the program printed. */
  events = [];
  #waiting = [];
  #asked = new Map();
  #number = 0;
  #text = Buffer.alloc(0);

  #input;
  #ended;

  constructor(output, input, ended) {
    this.#input = input;
    this.#ended = ended;
    output.on('data', data => this.#read(data));
  }

  static start(python, env) {
    const adapter = spawn(python, ['-m', 'debugpy.adapter'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    return new Debugger(adapter.stdout, adapter.stdin, once(adapter, 'exit'));
  }

  static async connect({ host, port }) {
    const socket = createConnection(port, host);
    await once(socket, 'connect');
    return new Debugger(socket, socket, once(socket, 'close'));
  }

  /** Its body; rejects with what the adapter says. */
  ask(command, given = {}) {
    const seq = ++this.#number;
    const body = JSON.stringify({ seq, type: 'request', command, arguments: given });
    this.#input.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    return new Promise((done, failed) => this.#asked.set(seq, { done, failed }));
  }

  /** The body of the next event of that name, or of one that came and nobody waited for. */
  event(name) {
    const at = this.events.findIndex(({ event, seen }) => event === name && !seen);
    if (at < 0) return new Promise(done => this.#waiting.push({ name, done }));
    this.events[at].seen = true;
    return Promise.resolve(this.events[at].body);
  }

  /** All that the program wrote. */
  output(category = 'stdout') {
    const told = this.events.filter(({ event, body }) => event === 'output' && body.category === category);
    return told.map(({ body }) => body.output).join('');
  }

  /** Launches a program, or attaches to one, with breakpoints in the lines of a file. */
  async launch(how, path, lines) {
    await this.ask('initialize', { adapterID: 'debugpy', clientID: 'test', pathFormat: 'path' });
    const begun = this.ask(how.request ?? 'launch', { type: 'debugpy', request: 'launch', ...how });
    await this.event('initialized');
    await this.ask('setBreakpoints', { source: { path }, breakpoints: lines.map(line => ({ line })) });
    await this.ask('configurationDone');
    await begun;
  }

  async leave() {
    await this.ask('disconnect');
    this.#input.end();
    await this.#ended;
  }

  #read(data) {
    this.#text = Buffer.concat([this.#text, data]);
    for (;;) {
      const head = this.#text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const size = Number(/Content-Length: (\d+)/.exec(this.#text.subarray(0, head).toString())[1]);
      if (this.#text.length < head + 4 + size) return;
      const message = JSON.parse(this.#text.subarray(head + 4, head + 4 + size).toString());
      this.#text = this.#text.subarray(head + 4 + size);
      this.#heard(message);
    }
  }

  #heard(message) {
    if (message.type === 'response') {
      const { done, failed } = this.#asked.get(message.request_seq);
      return message.success ? done(message.body) : failed(new Error(`${message.command}: ${message.message}`));
    }
    if (message.type !== 'event') return;
    const at = this.#waiting.findIndex(({ name }) => name === message.event);
    this.events.push({ ...message, seen: at >= 0 });
    if (at >= 0) this.#waiting.splice(at, 1)[0].done(message.body);
  }
}

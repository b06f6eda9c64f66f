/** Messages of one moment travel as one: each journey costs more than what is in it. */
export interface Batch<M> {
  type: 'batch';
  messages: M[];
}

/** Collects messages until the moment is over. */
export class Outbox<M> {
  private messages: M[] = [];

  /**
   * @param send gets a message that is alone as it is
   * @param later runs something when the moment is over
   */
  constructor(
    private readonly send: (packet: M | Batch<M>) => void,
    private readonly later: (run: () => void) => void,
  ) {}

  post(message: M): void {
    if (this.messages.push(message) === 1) this.later(() => this.flush());
  }

  private flush(): void {
    const { messages } = this;
    this.messages = [];
    const [first] = messages;
    if (first !== undefined) this.send(messages.length === 1 ? first : { type: 'batch', messages });
  }
}

/** Messages to the client that precede the answer to its request, on the answer's event stream. */
export class Outbox {
  /** True if the client accepts a stream. Otherwise, messages are dropped. */
  readonly isOpen: boolean
  /** Aborted when the client has closed the stream. */
  readonly closed = new AbortController()
  #messages: object[] = []
  #arrived = Promise.withResolvers<void>()
  readonly #work: Promise<unknown>[] = []

  constructor(isOpen: boolean) {
    this.isOpen = isOpen
  }

  push(message: object): void {
    if (!this.isOpen) return
    this.#messages.push(message)
    this.#arrived.resolve()
  }

  notify(method: string, params: object): void {
    this.push({ jsonrpc: '2.0', method, params })
  }

  /** Takes the messages that are there. */
  take(): object[] {
    const taken = this.#messages
    this.#messages = []
    this.#arrived = Promise.withResolvers<void>()
    return taken
  }

  /** Resolves when there is a message. */
  arrival(): Promise<void> {
    return this.#arrived.promise
  }

  /** Keeps the function running until the work is done, beyond the answer. */
  keep(work: Promise<unknown>): void {
    this.#work.push(work)
  }

  /** Resolves when all kept work is done, with what it has added. */
  async settled(): Promise<void> {
    for (let kept = -1; kept !== this.#work.length; ) {
      kept = this.#work.length
      await Promise.allSettled(this.#work)
    }
  }
}

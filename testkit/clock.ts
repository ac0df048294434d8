/** Clock that stands still until a test moves it, lets it run or lets it tick. */
export class TestClock {
  #now: number
  #started: number | undefined
  #tick = 0
  constructor(start = Date.UTC(2026, 0, 15, 12)) {
    this.#now = start
  }
  now(): number {
    this.#now += this.#tick
    return this.#now + (this.#started === undefined ? 0 : Date.now() - this.#started)
  }
  /** Goes on by itself, from the present time. */
  run(): void {
    this.#now = this.#started = Date.now()
  }
  /** Advances with each reading, so that two readings are never the same. */
  tick(ms = 1): void {
    this.#tick = ms
  }
  advance(ms: number): void {
    this.#now += ms
  }
}

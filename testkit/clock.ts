/** Clock that stands still until a test moves it or lets it run. */
export class TestClock {
  #now: number
  #started: number | undefined
  constructor(start = Date.UTC(2026, 0, 15, 12)) {
    this.#now = start
  }
  now(): number {
    return this.#now + (this.#started === undefined ? 0 : Date.now() - this.#started)
  }
  /** Goes on by itself, from the present time. */
  run(): void {
    this.#now = this.#started = Date.now()
  }
  advance(ms: number): void {
    this.#now += ms
  }
}

/** Clock that stands still until a test moves it. */
export class TestClock {
  #now: number
  constructor(start = Date.UTC(2026, 0, 15, 12)) {
    this.#now = start
  }
  now(): number {
    return this.#now
  }
  advance(ms: number): void {
    this.#now += ms
  }
}

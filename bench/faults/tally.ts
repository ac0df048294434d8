/** Counts of faults. */
export interface Tally {
  count(what: string, times?: number): void
  /** Returns the counts sorted by name. */
  rows(): [what: string, times: number][]
}

export const createTally = (): Tally => {
  const counts = new Map<string, number>()
  return {
    count: (what, times = 1) => {
      counts.set(what, (counts.get(what) ?? 0) + times)
    },
    rows: () => [...counts].sort(([a], [b]) => a.localeCompare(b)),
  }
}

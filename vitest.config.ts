import { defineConfig } from 'vitest/config'

/** Tests that start the whole local platform, a browser, or processes of their own, and look at the clock while they do. */
const WHOLE = ['test/{browser,e2e,events,local}/**/*.test.ts']

export default defineConfig({
  test: {
    // For a machine that has other things to do; what hangs hangs longer than this.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 25 } },
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: WHOLE,
          maxWorkers: 2,
          // Nothing keeps anything in a module, so files share what is loaded: reading it anew is a quarter of their time.
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // One after the other: each has threads and processes enough for two cores.
        test: { name: 'whole', include: WHOLE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
})

import { defineConfig } from 'vitest/config'

/** Tests that start the whole local platform, a browser, or processes of their own, and look at the clock while they do. */
const WHOLE = ['test/{browser,e2e,events,local}/**/*.test.ts']

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: WHOLE,
          maxWorkers: 2,
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

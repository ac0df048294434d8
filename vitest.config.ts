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
    // Of all projects together, so that none waits for the last file of another. What looks at the clock has to bear company.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: WHOLE,
          // Nothing keeps anything in a module, so files share what is loaded: reading it anew is a quarter of their time.
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
        },
      },
      { extends: true, test: { name: 'whole', include: WHOLE } },
    ],
  },
})

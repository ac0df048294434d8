import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { ENGINES, FRAMEWORKS, GENERATORS, MODEL_SERVERS, PYTHON, WHOLE } from '#test/projects.ts'
import { translationInto } from '#web/messages/compile.ts'
import { messages } from '#web/messages/plugin.ts'

const outside = (): string[] | undefined => {
  if (process.env.PYTHON_TESTS) return PYTHON
  if (process.env.GENERATOR_TESTS) return GENERATORS
  if (process.env.ENGINE_TESTS) return ENGINES
  if (process.env.MODEL_TESTS) return MODEL_SERVERS
  return process.env.FRAMEWORK_TESTS ? FRAMEWORKS : undefined
}

/** Downloads and compilers of other languages take as long as the network and the machine do. */
const OUTSIDE_TIMEOUT = 1_800_000

const SEED = process.env.SEED ?? '1'
process.env.SEED = SEED

/**
 * Workers of each project. Both projects run at the same time in `npm test`, so that one uses the cores while the other waits. On
 * two cores, three and four workers take a tenth longer than two and two, because they push each other out of the caches.
 */
const WORKERS = Math.min(availableParallelism(), 4)

export default defineConfig({
  // Tests of pages' modules see English.
  plugins: [messages('en', translationInto('en', {}))],
  test: {
    // Generous, for machines that are slower or do other things too; a test that hangs still fails.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 25 } },
    // Processes take a twentieth less CPU than threads, whose memory belongs to one process.
    pool: 'forks',
    maxWorkers: WORKERS,
    // CloudFormation's own checks run when the stacks are synthesized for real; here they take half the time of each synthesis.
    // Nobody reads where in the source each resource was made.
    env: { SEED, CDK_VALIDATION: 'false', CDK_DISABLE_STACK_TRACE: '1' },
    setupFiles: ['testkit/setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          globalSetup: ['testkit/shared-stores.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [...WHOLE, ...PYTHON, ...GENERATORS, ...FRAMEWORKS, ...MODEL_SERVERS, ...ENGINES],
          // No module keeps state, so files share what is loaded: loading it again is a quarter of their time.
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: outside() ?? WHOLE,
          ...(outside() && { testTimeout: OUTSIDE_TIMEOUT, hookTimeout: OUTSIDE_TIMEOUT }),
          globalSetup: ['testkit/global-setup.ts'],
          isolate: false,
          // Within one Vitest, these tests start once the others are over.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})

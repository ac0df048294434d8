import type { TestProject } from 'vitest/node'
import { startSharedStores } from './store.ts'

/** Starts a store for each worker before the first test. Returns the function that stops them. */
export default ({ vitest }: TestProject) => startSharedStores(vitest.config.maxWorkers)

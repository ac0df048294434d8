import type { TestProject } from 'vitest/node'
import { startSharedStores } from './store.ts'

/**
 * Starts a store for each worker before the first test: as many as the project with the most workers has. Returns the function
 * that stops them.
 */
export default ({ vitest }: TestProject) =>
  startSharedStores(Math.max(...vitest.projects.map(({ config }) => config.maxWorkers)))

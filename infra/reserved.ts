import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { reservedBy } from './concurrency.ts'
import type { Config } from './config.ts'
import { planFunctions } from './plan.ts'

/** Number of executions that a stage reserves for its functions. */
export const reservedExecutions = (config: Config): number =>
  Object.values(reservedBy(planFunctions({ requestFunctions, workerFunctions }), config)).reduce(
    (all, one) => all + one,
    0,
  )

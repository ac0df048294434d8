import type { Answer } from '#test/support/platform.ts'
import type { Stage } from './stage.ts'

/** One request of the main job, as it typically comes. */
export interface Scenario {
  /** Method and path as declared, such as `GET /api/v1/runs/{id}`. */
  endpoint: string
  /** What it does, where an endpoint is measured in several ways. */
  variant?: string
  /** Makes what the request needs; what it returns is the request that is measured. */
  prepare(stage: Stage): Promise<() => Promise<Answer>>
}

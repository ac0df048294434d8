import type { Answer } from '#testkit/platform.ts'
import type { Stage } from './stage.ts'

/** Request whose state is prepared. */
export interface Request {
  send(): Promise<Answer>
  /** True if it waits until workers have done something. */
  works?: true | undefined
}

/** Typical request. */
export interface Scenario {
  /** Method and path as declared, such as `GET /api/v1/runs/{id}`. */
  endpoint: string
  /** Name of the variant, if an endpoint is measured in several ways. */
  variant?: string
  /** Prepares the state and returns the request to measure. */
  prepare(stage: Stage): Promise<Request>
}

/** Returns a scenario's name in the tables: the endpoint and its variant. */
export const nameOf = ({ endpoint, variant }: Pick<Scenario, 'endpoint' | 'variant'>): string =>
  variant ? `${endpoint}: ${variant}` : endpoint

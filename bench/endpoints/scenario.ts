import type { Answer } from '#test/support/platform.ts'
import type { Stage } from './stage.ts'

/** A request whose state is prepared. */
export interface Request {
  send(): Promise<Answer>
  /** It waits until workers have done something. */
  works?: true | undefined
}

/** One request, as it typically comes. */
export interface Scenario {
  /** Method and path as declared, such as `GET /api/v1/runs/{id}`. */
  endpoint: string
  /** What it does, where an endpoint is measured in several ways. */
  variant?: string
  /** Makes what the request needs; what it returns is measured. */
  prepare(stage: Stage): Promise<Request>
}

/** A scenario's name in the tables: the endpoint, and what it does where it is there more than once. */
export const nameOf = ({ endpoint, variant }: Pick<Scenario, 'endpoint' | 'variant'>): string =>
  variant ? `${endpoint}: ${variant}` : endpoint

import { platformClient } from '../../session/client.ts'
import type { components, paths } from '../../ui/platform.d.ts'
import { token } from './token.ts'

export type Schemas = components['schemas']

/** The admin API. */
export const { api, take, watch, whenSessionIsOver } = platformClient<paths>(token)

/** An answer of an admin list. */
export interface Observed<T> {
  items: T[]
  total: number
  limit: number
  offset: number
}

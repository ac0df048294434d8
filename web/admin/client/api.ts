import { platformClient } from '../../session/client.ts'
import type { components, paths } from '../../ui/platform.d.ts'
import { sendConfirmed } from './confirmation.ts'
import { token } from './token.ts'

export type Schemas = components['schemas']

export const { api, unwrap, watch, onSessionExpired } = platformClient<paths>(token, sendConfirmed)

/** Response of an admin list. */
export interface Observed<T> {
  items: T[]
  total: number
  limit: number
  offset: number
}

import { platformClient } from '../../session/client.ts'
import type { components, paths } from './developer.d.ts'
import { token } from './token.ts'

export type Schemas = components['schemas']

export const { api, unwrap, onSessionExpired } = platformClient<paths>(token, undefined, (key) => [
  'x-developer-key',
  key,
])

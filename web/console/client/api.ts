import { platformClient } from '../../session/client.ts'
import { session } from '../../session/session.ts'
import type { components, paths } from '../../ui/platform.d.ts'

export type Schemas = components['schemas']

export const { api, unwrap, onSessionExpired } = platformClient<paths>(() => session()?.token)

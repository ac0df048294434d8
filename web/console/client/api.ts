import { platformClient } from '../../session/client.ts'
import { session } from '../../session/session.ts'
import type { components, paths } from '../../ui/platform.d.ts'

export type Schemas = components['schemas']

/** The console API. */
export const { api, take, whenSessionIsOver } = platformClient<paths>(() => session()?.token)

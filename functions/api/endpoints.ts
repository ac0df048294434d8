import type { Endpoint } from '#shared/http/endpoint.ts'
import * as events from './events.ts'
import * as identity from './identity.ts'
import * as runs from './runs.ts'
import * as tools from './tools.ts'
import * as webhooks from './webhooks.ts'

export const endpoints: Endpoint[] = [identity, runs, tools, webhooks, events].flatMap((file) => Object.values(file))

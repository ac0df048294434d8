import type { Endpoint } from '#shared/http/endpoint.ts'
import { conversationEndpoints } from './conversations.ts'
import { messageEndpoints } from './messages.ts'
import { setPrimary } from './primary-agent.ts'

export const endpoints: Endpoint[] = [...conversationEndpoints, ...messageEndpoints, setPrimary]

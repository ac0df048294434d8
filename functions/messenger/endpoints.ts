import type { Endpoint } from '#shared/http/endpoint.ts'
import { accountEndpoints } from './accounts.ts'
import { chatEndpoints } from './chats.ts'

export const endpoints: Endpoint[] = [...accountEndpoints, ...chatEndpoints]

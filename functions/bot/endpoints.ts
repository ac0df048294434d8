import type { Endpoint } from '#shared/http/endpoint.ts'
import { signInEndpoints } from './sign-in.ts'
import { webhookEndpoints } from './webhook.ts'

export const endpoints: Endpoint[] = [...signInEndpoints, ...webhookEndpoints]

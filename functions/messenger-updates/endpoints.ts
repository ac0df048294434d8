import type { Endpoint } from '#shared/http/endpoint.ts'
import { updateEndpoints } from './updates.ts'

export const endpoints: Endpoint[] = [...updateEndpoints]
